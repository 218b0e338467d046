"""Arguments taken apart by the structure that they had when the graph was traced."""

from collections import namedtuple

from rushlight.utils import _pytree as pytree

__all__ = ["register_pytree_flatten_spec", "tree_flatten_spec"]


def register_pytree_flatten_spec(cls, flatten_fn_spec, flatten_fn_exact_match_spec=None):
    """Has objects of a class be taken apart by a function of their own.

    Args:
        cls: the class.
        flatten_fn_spec: a function of (object, spec), which returns the list of its parts.
        flatten_fn_exact_match_spec: accepted.
    """
    _BY_SPEC[cls] = flatten_fn_spec


def _by_position(sequence, spec):
    return [sequence[i] for i in range(len(spec.children_specs))]


_BY_SPEC = {
    dict: lambda d, spec: [d[key] for key in spec.context],
    list: _by_position,
    tuple: _by_position,
    namedtuple: _by_position,
}


def tree_flatten_spec(pytree_, spec):
    """The leaves of a tree, of a structure that is known.

    Args:
        pytree_: the tree.
        spec: the structure, of tree_structure.

    >>> spec = torch.utils._pytree.tree_structure({"a": 0, "b": (1, 2)})
    >>> torch.fx._pytree.tree_flatten_spec({"a": 3, "b": (4, 5)}, spec)
    [3, 4, 5]
    """
    if spec.is_leaf():
        return [pytree_]
    take_apart = _BY_SPEC.get(spec.type)
    if take_apart is None:
        return pytree.tree_leaves(pytree_)
    parts = take_apart(pytree_, spec)
    return [
        leaf
        for part, child in zip(parts, spec.children_specs, strict=True)
        for leaf in tree_flatten_spec(part, child)
    ]
