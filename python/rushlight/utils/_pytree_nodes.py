"""What a container is to torch.utils._pytree: its parts, the keys that lead to them, and the spec
that it is built again from. Lists, tuples, named tuples, dicts and deques are known from the start.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import rushlight.return_types
from rushlight._C import Size, _check_stack


@dataclass(frozen=True)
class SequenceKey:
    """The place of a part in a list or tuple.

    Args:
        idx: its index.
    """

    idx: int

    def __str__(self):
        return f"[{self.idx!r}]"

    def get(self, sequence):
        """The part of a sequence that it leads to."""
        return sequence[self.idx]


@dataclass(frozen=True)
class MappingKey:
    """The key of a part in a dict.

    Args:
        key: the key.
    """

    key: Any

    def __str__(self):
        return f"[{self.key!r}]"

    def get(self, mapping):
        """The part of a mapping that it leads to."""
        return mapping[self.key]


@dataclass(frozen=True)
class GetAttrKey:
    """The attribute in which a part lies.

    Args:
        name: its name.
    """

    name: str

    def __str__(self):
        return f".{self.name}"

    def get(self, obj):
        """The part of an object that it leads to."""
        return getattr(obj, self.name)


class NodeDef(NamedTuple):
    """How a type of container is taken apart and built again."""

    type: Any
    flatten_fn: Callable
    unflatten_fn: Callable
    flatten_with_keys_fn: Callable | None


@dataclass(frozen=True)
class TreeSpec:
    """The containers of a tree, without its leaves; of a leaf, a spec without type and parts.

    Args:
        type: the container's type, None of a leaf.
        context: what else it is built from: the keys of a dict, the type of a named tuple.
        children_specs: the specs of its parts.
    """

    type: Any
    context: Any
    children_specs: list[TreeSpec]
    num_nodes: int = field(init=False, compare=False, repr=False)
    num_leaves: int = field(init=False, compare=False, repr=False)
    num_children: int = field(init=False, compare=False, repr=False)

    def __post_init__(self):
        parts, leaf = self.children_specs, self.type is None
        object.__setattr__(self, "num_nodes", 1 + sum(s.num_nodes for s in parts))
        object.__setattr__(self, "num_leaves", 1 if leaf else sum(s.num_leaves for s in parts))
        object.__setattr__(self, "num_children", len(parts))

    def __repr__(self, indent=0):
        _check_stack()
        if self.is_leaf():
            return "*"
        inner = ",".join(
            ("\n" + " " * (indent + 2) if i else "") + spec.__repr__(indent + 2)
            for i, spec in enumerate(self.children_specs)
        )
        return f"TreeSpec({self.type.__name__}, {self.context}, [{inner}])"

    def __hash__(self):
        _check_stack()
        context = self.context
        if isinstance(context, list):
            context = tuple(map(str, context))
        return hash((self.type, context, tuple(self.children_specs)))

    def is_leaf(self):
        """Whether it is the spec of a leaf."""
        return self.type is None

    def children(self):
        """The specs of its parts, as a list."""
        return list(self.children_specs)

    def child(self, index):
        """The spec of one part."""
        return self.children_specs[index]

    def entries(self):
        """The keys of a dict's parts, the indices of others'."""
        return self._keys() or list(range(self.num_children))

    def _keys(self):
        if self.type is defaultdict:
            return list(self.context[1])
        return list(self.context) if self.type in (dict, OrderedDict) else []

    def flatten_up_to(self, tree):
        """The parts of a tree that lie where this spec has leaves."""
        leaves: list[Any] = []
        self._descend(tree, leaves)
        return leaves

    def _descend(self, tree, leaves):
        if self.is_leaf():
            leaves.append(tree)
            return
        found = node_type(tree)
        if found is not self.type and not (self.type in DICTS and found in DICTS):
            word = "Node type" if self.type in FROM_THE_START else "Type"
            raise ValueError(f"{word} mismatch; expected {self.type!r}, but got {found!r}.")
        parts, context = SUPPORTED_NODES[found].flatten_fn(tree)
        if len(parts) != self.num_children:
            raise ValueError(
                f"Node arity mismatch; expected {self.num_children}, but got {len(parts)}."
            )
        if self.type in DICTS:
            keys = self._keys()
            if set(keys) != set(tree):
                missing, extra = set(keys) - set(tree), set(tree) - set(keys)
                said = f"; missing key(s): {missing}" * bool(missing)
                said += f"; extra key(s): {extra}" * bool(extra)
                raise ValueError(f"Node keys mismatch{said}.")
            parts = [tree[key] for key in keys]
        elif self.type is not deque and context != self.context:
            raise ValueError(
                f"Node context mismatch; expected {self.context!r}, but got {context!r}."
            )
        for spec, part in zip(self.children_specs, parts, strict=True):
            spec._descend(part, leaves)

    def unflatten(self, leaves):
        """The tree of this spec with other leaves.

        Args:
            leaves: as many as it has.
        """
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec "
                f"refers to a pytree that holds {self.num_leaves} items ({self})."
            )
        return self._built(iter(leaves))

    def _built(self, leaves):
        if self.is_leaf():
            return next(leaves)
        parts = [spec._built(leaves) for spec in self.children_specs]
        return SUPPORTED_NODES[self.type].unflatten_fn(parts, self.context)


class LeafSpec(TreeSpec):
    """The spec of a leaf."""

    def __init__(self):
        super().__init__(None, None, [])


DICTS = (dict, OrderedDict, defaultdict)
FROM_THE_START = (tuple, list, namedtuple, deque, *DICTS)
SUPPORTED_NODES: dict[Any, NodeDef] = {}


def add_node(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn=None):
    """Makes a type a container; ValueError if it is one."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


def is_structseq_class(cls: type) -> bool:
    """Whether it is a type of C's struct sequences, as the named results of torch's functions."""
    counts = ("n_sequence_fields", "n_fields", "n_unnamed_fields")
    return (
        isinstance(cls, type)
        and cls.__bases__ == (tuple,)
        and all(isinstance(getattr(cls, name, None), int) for name in counts)
    )


def is_structseq_instance(obj: Any) -> bool:
    """Whether it is a named result."""
    return is_structseq_class(type(obj))


def is_structseq(obj: Any) -> bool:
    """Whether it is a named result, or the type of one."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_class(cls: type) -> bool:
    """Whether it is the class of named tuples."""
    fields = getattr(cls, "_fields", None) if isinstance(cls, type) else None
    return isinstance(fields, tuple) and issubclass(cls, tuple)


def is_namedtuple_instance(obj: Any) -> bool:
    """Whether it is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: Any) -> bool:
    """Whether an object or class is a named tuple."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def node_type(tree: Any) -> Any:
    """The type under which a container is known: `namedtuple` for all named tuples, `dict` for the
    dicts of a module.
    """
    cls = type(tree)
    if cls in SUPPORTED_NODES:
        return cls
    return namedtuple if is_namedtuple(cls) else getattr(cls, "_pytree_type", cls)


def _indexed(parts: Iterable) -> list:
    return [(SequenceKey(i), part) for i, part in enumerate(parts)]


def _add_sequence(cls, context, build):
    add_node(
        cls,
        lambda x: (list(x), context(x)),
        build,
        lambda x: (_indexed(x), context(x)),
    )


def _add_dict(cls, context, build):
    add_node(
        cls,
        lambda x: (list(x.values()), context(x)),
        build,
        lambda x: ([(MappingKey(k), v) for k, v in x.items()], context(x)),
    )


def _nothing(_):
    return None


_add_sequence(tuple, _nothing, lambda parts, _: tuple(parts))
_add_sequence(list, _nothing, lambda parts, _: list(parts))
_add_sequence(Size, _nothing, lambda parts, _: tuple(parts))
_add_sequence(deque, lambda x: x.maxlen, lambda parts, most: deque(parts, maxlen=most))
_add_dict(dict, list, lambda parts, keys: dict(zip(keys, parts, strict=True)))
_add_dict(OrderedDict, list, lambda parts, keys: OrderedDict(zip(keys, parts, strict=True)))
_add_dict(
    defaultdict,
    lambda x: [x.default_factory, list(x)],
    lambda parts, context: defaultdict(context[0], zip(context[1], parts, strict=True)),
)
add_node(
    namedtuple,
    lambda x: (list(x), type(x)),
    lambda parts, cls: cls(*parts),
    lambda x: ([(GetAttrKey(n), getattr(x, n)) for n in x._fields], type(x)),
)
for _name in rushlight.return_types.__all__:
    _type = getattr(rushlight.return_types, _name)
    _add_sequence(_type, _nothing, lambda parts, _, cls=_type: cls(parts))
