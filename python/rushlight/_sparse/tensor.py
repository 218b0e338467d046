"""The classes of sparse tensors: Coordinates (torch.sparse_coo) and Compressed (torch.sparse_csr
and torch.sparse_csc).
"""

from rushlight import _C, Tensor
from rushlight._sparse import dispatch


class Sparse(Tensor):
    """What all of them share: `_size`, the sizes, and `_v`, the values, whose history is the
    tensor's. `_node` is the name of torch's node, for the text.
    """

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return dispatch.computed(func, args, kwargs or {})

    def __repr__(self, *, tensor_contents=None):
        from rushlight._sparse.text import text

        return text(self)

    def __format__(self, words):
        return object.__format__(self, words)

    def __len__(self):
        if not self._size:
            raise TypeError("len() of a 0-d tensor")
        return self._size[0]

    def __bool__(self):
        if self._size.numel() != 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return bool(self.item())

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def __complex__(self):
        return complex(self.item())

    def __iter__(self):
        return iter(self.unbind(0))

    def __reduce_ex__(self, protocol):
        return dispatch.RULES["reduce"](self)

    def __deepcopy__(self, memo):
        return dispatch.RULES["deepcopy"](self, memo)

    __hash__ = Tensor.__hash__


class Coordinates(Sparse):
    """Indices (sparse dimensions, entries) in `_i`, values (entries, dense dimensions...) in `_v`;
    `_coalesced`: the entries ascend and none comes twice.
    """

    layout_name = "sparse_coo"


class Compressed(Sparse):
    """A matrix by rows (CSR), or by columns (CSC): `_c` says where each begins in `_p`, the column
    (or row) of each entry.
    """


class ByRows(Compressed):
    """torch.sparse_csr."""

    layout_name = "sparse_csr"
    _outer = 0


class ByColumns(Compressed):
    """torch.sparse_csc."""

    layout_name = "sparse_csc"
    _outer = 1


for _class in (Coordinates, ByRows, ByColumns):
    _class.__name__ = _class.__qualname__ = "Tensor"
    _class.__module__ = "rushlight"


def coordinates(indices, values, size, coalesced=False, node=None):
    """A sparse tensor of these parts, which are not checked.

    Args:
        indices: int64 (sparse dimensions, entries), without history.
        values: (entries, ...), whose history becomes the tensor's.
        size: the sizes.
        coalesced: whether the indices ascend and none comes twice.
        node: the name of torch's node for what was computed.
    """
    made = _C._sparse_object(Coordinates, list(size), values)
    made._i, made._v, made._size = indices, values, _C.Size(size)
    made._coalesced, made._node = bool(coalesced), node
    return made


def compressed(kind, starts, others, values, size, node=None):
    """A compressed matrix of these parts, which are not checked."""
    made = _C._sparse_object(kind, list(size), values)
    made._c, made._p, made._v, made._size = starts, others, values, _C.Size(size)
    made._node, made._entries = node, None
    return made


def with_values(x, values, node=None, coalesced=None):
    """A tensor with x's indices and other values, one for each of its entries."""
    if isinstance(x, Compressed):
        return compressed(type(x), x._c, x._p, values, x._size, node)
    coalesced = x._coalesced if coalesced is None else coalesced
    made = coordinates(x._i, values, x._size, coalesced, node)
    made._seen = vars(x).get("_seen")
    return made


def become(x, other):
    """Makes a sparse tensor what another one of its layout is: the end of a call in place."""
    for name in ("_i", "_c", "_p", "_v", "_size", "_coalesced"):
        if name in vars(other):
            setattr(x, name, getattr(other, name))
    x._node = other._node
    x._seen = x._entries = None
    with _C.DisableTorchFunctionSubclass():
        if Tensor.size(x) != other._size:
            Tensor.data.__set__(x, other)
    return x


def is_sparse(x):
    """Whether it is a sparse tensor of any layout."""
    return isinstance(x, Sparse)
