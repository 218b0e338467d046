"""Trees of Python containers: taken apart into a flat list of leaves and a spec, mapped, built
again. A leaf is what is not a known container: a tensor, a number, None.

>>> from rushlight.utils import _pytree as pytree
>>> leaves, spec = pytree.tree_flatten({"a": 1, "b": (2, 3)})
>>> leaves, pytree.tree_unflatten([10, 20, 30], spec)
([1, 2, 3], {'a': 10, 'b': (20, 30)})
"""

from __future__ import annotations

import dataclasses
import types
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

from rushlight._C import _check_stack
from rushlight.utils._pytree_nodes import (
    SUPPORTED_NODES,
    GetAttrKey,
    LeafSpec,
    MappingKey,
    NodeDef,
    SequenceKey,
    TreeSpec,
    add_node,
    is_namedtuple,
    is_namedtuple_class,
    is_namedtuple_instance,
    is_structseq,
    is_structseq_class,
    is_structseq_instance,
    node_type,
)

__all__ = [
    "SUPPORTED_NODES",
    "GetAttrKey",
    "LeafSpec",
    "MappingKey",
    "NodeDef",
    "PyTree",
    "PyTreeSpec",
    "SequenceKey",
    "TreeSpec",
    "arg_tree_leaves",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "is_structseq",
    "is_structseq_class",
    "is_structseq_instance",
    "key_get",
    "keystr",
    "map_only",
    "register_dataclass",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
    "treespec_dict",
    "treespec_leaf",
    "treespec_pprint",
    "treespec_tuple",
]

PyTree = Any
Context = Any
PyTreeSpec = TreeSpec


def register_pytree_node(
    cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, to_dumpable_context=None,
    from_dumpable_context=None, flatten_with_keys_fn=None,
):  # fmt: skip
    """Makes a class a container.

    Args:
        cls: the class.
        flatten_fn: gives of an object the list of its parts and a context.
        unflatten_fn: gives the object of parts and context.
        serialized_type_name, to_dumpable_context, from_dumpable_context: of specs as text, which
            are not here.
        flatten_with_keys_fn: as flatten_fn, with (key, part) for each part.

    Raises: ValueError, if it is one already.
    """
    add_node(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


_register_pytree_node = register_pytree_node


def _deregister_pytree_node(cls):
    del SUPPORTED_NODES[cls]


def register_dataclass(cls, *, field_names=None, drop_field_names=None, serialized_type_name=None):
    """Makes a dataclass a container of its fields.

    Args:
        cls: the dataclass.
        field_names: the fields that are parts; all that __init__ takes, if None.
        drop_field_names: fields that are not.
        serialized_type_name: of specs as text, which are not here.
    """
    if field_names is None:
        field_names = [f.name for f in dataclasses.fields(cls) if f.init]
    names = [n for n in field_names if n not in (drop_field_names or ())]

    def flatten_with_keys(obj):
        present = [n for n in names if getattr(obj, n) is not None]
        absent = [n for n in names if n not in present]
        return [(GetAttrKey(n), getattr(obj, n)) for n in present], [present, absent]

    def flatten(obj):
        parts, context = flatten_with_keys(obj)
        return [part for _, part in parts], context

    def unflatten(parts, context):
        given = dict(zip(context[0], parts, strict=True))
        return cls(**given, **dict.fromkeys(context[1]))

    add_node(cls, flatten, unflatten, flatten_with_keys)


def tree_is_leaf(tree, is_leaf=None):
    """Whether it is no known container.

    Args:
        tree: any object.
        is_leaf: a function that makes a container a leaf where it returns True.

    >>> tree_is_leaf(1), tree_is_leaf([1])
    (True, False)
    """
    return bool(is_leaf is not None and is_leaf(tree)) or node_type(tree) not in SUPPORTED_NODES


def _take_apart(tree, leaves, is_leaf):
    found = node_type(tree)
    if found not in SUPPORTED_NODES or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return LeafSpec()
    parts, context = SUPPORTED_NODES[found].flatten_fn(tree)
    return TreeSpec(found, context, [_take_apart(part, leaves, is_leaf) for part in parts])


def tree_flatten(tree, is_leaf=None):
    """The leaves of a tree, in order, and its spec.

    Args:
        tree: any object.
        is_leaf: a function that makes a container a leaf where it returns True.

    >>> tree_flatten([1, (2, None)])[0]
    [1, 2, None]
    """
    leaves: list[Any] = []
    spec = _take_apart(tree, leaves, is_leaf)
    return leaves, spec


def tree_unflatten(leaves, treespec):
    """The tree of a spec with these leaves.

    Args:
        leaves: as many as the spec has.
        treespec: from tree_flatten() or tree_structure().

    Raises: TypeError, if it is no spec; ValueError, if the number of leaves differs.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "Expected `treespec` to be an instance of PyTreeSpec but got item of type "
            f"{type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_iter(tree, is_leaf=None):
    """Iterates over the leaves of a tree."""
    _check_stack()
    if tree_is_leaf(tree, is_leaf):
        yield tree
        return
    for part in SUPPORTED_NODES[node_type(tree)].flatten_fn(tree)[0]:
        yield from tree_iter(part, is_leaf)


def tree_leaves(tree, is_leaf=None):
    """The leaves of a tree, in order.

    >>> tree_leaves({"b": 1, "a": [2]})
    [1, 2]
    """
    return list(tree_iter(tree, is_leaf))


def arg_tree_leaves(*args, **kwargs):
    """The leaves of the arguments of a call."""
    return tree_leaves((args, kwargs))


def tree_structure(tree, is_leaf=None):
    """The spec of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func, tree, *rests, is_leaf=None):
    """The tree with func(leaf, ...) in the place of each leaf.

    Args:
        func: takes a leaf of `tree`, and of each of `rests` what lies there.
        tree: any object.
        rests: trees of the same containers.
        is_leaf: a function that makes a container a leaf where it returns True.

    Raises: ValueError, if a tree of `rests` differs.

    >>> tree_map(lambda x, y: x + y, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    return spec.unflatten(map(func, leaves, *others))


def tree_map_(func, tree, *rests, is_leaf=None):
    """Calls func(leaf, ...) for each leaf, and returns the tree itself."""
    leaves, spec = tree_flatten(tree, is_leaf)
    for given in zip(leaves, *(spec.flatten_up_to(rest) for rest in rests), strict=True):
        func(*given)
    return tree


def map_only(type_or_types_or_pred, /):
    """A decorator: the function is called for what is of a type, the rest stays as it is.

    Args:
        type_or_types_or_pred: a type, a tuple or union of types, or a function to bool.
    """
    chosen = type_or_types_or_pred
    if isinstance(chosen, type | tuple | types.UnionType):

        def is_chosen(x):
            return isinstance(x, chosen)
    elif callable(chosen):
        is_chosen = chosen
    else:
        raise TypeError("Argument must be a type, a tuple of types, or a callable.")

    def decorate(func):
        return lambda x: func(x) if is_chosen(x) else x

    return decorate


def tree_map_only(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """tree_map() of the leaves of a type alone.

    >>> tree_map_only(int, str, [1, 2.5])
    ['1', 2.5]
    """
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """tree_map_() of the leaves of a type alone."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    """Whether pred(leaf) is true of all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred, tree, is_leaf=None):
    """Whether pred(leaf) is true of a leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(type_or_types, /, pred, tree, is_leaf=None):
    """Whether pred(leaf) is true of all leaves of a type."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types, /, pred, tree, is_leaf=None):
    """Whether pred(leaf) is true of a leaf of a type."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def _with_paths(path, tree, is_leaf):
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    node = SUPPORTED_NODES[node_type(tree)]
    if node.flatten_with_keys_fn is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {node.type}. Please pass a "
            "flatten_with_keys_fn argument to register_pytree_node."
        )
    for key, part in node.flatten_with_keys_fn(tree)[0]:
        yield from _with_paths((*path, key), part, is_leaf)


def tree_flatten_with_path(tree, is_leaf=None):
    """As tree_flatten(), with (path, leaf) for each leaf: a path is a tuple of keys.

    >>> [keystr(path) for path, _ in tree_flatten_with_path({"a": [1, 2]})[0]]
    ["['a'][0]", "['a'][1]"]
    """
    return list(_with_paths((), tree, is_leaf)), tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree, is_leaf=None):
    """The leaves of a tree, each as (path, leaf)."""
    return list(_with_paths((), tree, is_leaf))


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """As tree_map(), with func(path, leaf, ...)."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    paths, leaves = ([pair[i] for pair in found] for i in (0, 1))
    return spec.unflatten(map(func, paths, leaves, *others))


def keystr(kp):
    """A path as text."""
    return "".join(map(str, kp))


def key_get(obj, kp):
    """What a path leads to in a tree.

    >>> key_get({"a": [1, 2]}, (MappingKey("a"), SequenceKey(1)))
    2
    """
    for key in kp:
        obj = key.get(obj)
    return obj


def _broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """The leaves of `tree` repeated to fit `treespec`; None where they do not fit."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf() or node_type(tree) is not treespec.type:
        return None
    parts, context = SUPPORTED_NODES[treespec.type].flatten_fn(tree)
    if len(parts) != treespec.num_children or context != treespec.context:
        return None
    leaves: list[Any] = []
    for part, spec in zip(parts, treespec.children_specs, strict=True):
        more = _broadcast_to_and_flatten(part, spec, is_leaf)
        if more is None:
            return None
        leaves += more
    return leaves


def treespec_leaf():
    """The spec of a leaf."""
    return LeafSpec()


def treespec_tuple(iterable=(), /):
    """The spec of a tuple of parts with these specs."""
    return TreeSpec(tuple, None, list(iterable))


def treespec_dict(mapping=(), /, **kwargs):
    """The spec of a dict of parts with these specs."""
    specs = dict(mapping, **kwargs)
    return TreeSpec(dict, list(specs), list(specs.values()))


def treespec_pprint(treespec):
    """A spec as text, with * for its leaves."""
    return repr(treespec.unflatten([_Star()] * treespec.num_leaves))


# Names that libraries import.
_, _dict_flatten, _dict_unflatten, _dict_flatten_with_keys = SUPPORTED_NODES[dict]
_, _list_flatten, _list_unflatten, _list_flatten_with_keys = SUPPORTED_NODES[list]
_, _deque_flatten, _deque_unflatten, _deque_flatten_with_keys = SUPPORTED_NODES[deque]
_, _tuple_flatten, _tuple_unflatten, _tuple_flatten_with_keys = SUPPORTED_NODES[tuple]
_, _namedtuple_flatten, _namedtuple_unflatten, _namedtuple_flatten_with_keys = SUPPORTED_NODES[
    namedtuple
]
_, _defaultdict_flatten, _defaultdict_unflatten, _defaultdict_flatten_with_keys = SUPPORTED_NODES[
    defaultdict
]
_, _ordereddict_flatten, _ordereddict_unflatten, _ordereddict_flatten_with_keys = SUPPORTED_NODES[
    OrderedDict
]
_is_namedtuple_instance = is_namedtuple_instance
_get_node_type = node_type


class _Star:
    def __repr__(self):
        return "*"
