"""To and from dense tensors; copies, casts and other devices."""

from __future__ import annotations

import math

from rushlight import _C, no_grad
from rushlight._C import Tensor
from rushlight._sparse.dispatch import RULES, refuse, rule
from rushlight._sparse.entries import coalesced, indices_of, places, summed
from rushlight._sparse.tensor import Compressed, compressed, coordinates, is_sparse, with_values
from rushlight._table import op


def dense_of(x, dtype=None):
    """The dense tensor of a sparse one."""
    if isinstance(x, Compressed):
        x = RULES["to_sparse_coo"](x)
    count = x._i.shape[0]
    if count == 0:
        found = x._v.sum(0) if x._v.dtype is not _C.bool else x._v.any(0)
    else:
        found = summed(x._v, places(x), math.prod(x._size[:count])).reshape(x._size)
    return found if dtype is None else found.to(dtype)


@rule("to_dense")
def to_dense(self, dtype=None, *, masked_grad=None):
    """The dense tensor."""
    if dtype is not None:
        raise RuntimeError(
            "dtype argument is not supported by sparse_to_dense\n"
            "cast the result: x.to_dense().to(dtype)"
        )
    return dense_of(self)


def sparse_of(x, dims=None, node="ToSparseBackward1"):
    """The sparse tensor of what is not zero in a dense one; the first `dims` are sparse."""
    rank = x.dim()
    dims = rank if dims is None else dims
    if not (0 < dims <= rank or dims == rank == 0):
        raise RuntimeError(
            f"dense_to_sparse: sparse_dim argument must be in [0,{rank}] range, but {dims} is given"
        )
    sizes = x.shape[:dims]
    with no_grad():
        flat = x.detach().reshape(math.prod(sizes), math.prod(x.shape[dims:]))
        numbers = (flat != 0).any(1).nonzero().reshape(-1) if flat.shape[1] else None
        if numbers is None:
            numbers = _C.empty((0,), dtype=_C.int64, device=x.device)
        indices = indices_of(numbers, sizes)
    values = x.reshape(math.prod(sizes), *x.shape[dims:]).index_select(0, numbers)
    return coordinates(indices, values, x.shape, True, node if values.requires_grad else None)


def _layout(layout):
    return getattr(layout, "name", layout)


@op("Tensor")
def to_sparse(self: Tensor, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    """A sparse tensor of the elements that are not zero.

    Args:
        sparse_dim: how many dimensions, the first, have indices; all if None.
        layout: torch.sparse_coo, torch.sparse_csr or torch.sparse_csc.
        blocksize: of layouts that are not here.
        dense_dim: how many dimensions the values of a compressed tensor have; 0 or None.

    Shape: that of self.

    >>> torch.tensor([0.0, 2.0]).to_sparse().values()
    tensor([2.])
    """
    layout = _layout(layout)
    if layout in (None, "sparse_coo"):
        return sparse_of(self, sparse_dim)
    if layout == "sparse_csr":
        return to_sparse_csr(self, dense_dim)
    if layout == "sparse_csc":
        return to_sparse_csc(self, dense_dim)
    if layout is _C.strided:
        return self
    raise NotImplementedError(f"to_sparse(): tensors of layout {layout} are not in rushlight")


@rule("to_sparse")
def to_sparse_again(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    """In another layout, or as it is."""
    layout = _layout(layout)
    if sparse_dim is not None and sparse_dim != RULES["sparse_dim"](self):
        raise RuntimeError(
            "to_sparse: conversion from Sparse to Sparse with sparse_dim argument "
            "!=self.sparse_dim() is not supported"
        )
    if layout is _C.strided:
        return dense_of(self)
    name = {None: "coo"}.get(layout, str(layout).removeprefix("sparse_"))
    if name not in ("coo", "csr", "csc"):
        raise NotImplementedError(f"to_sparse(): tensors of layout {layout} are not in rushlight")
    return RULES[f"to_sparse_{name}"](self)


@op("Tensor")
def to_sparse_coo(self: Tensor):
    """A sparse tensor in coordinate form.

    Shape: that of self.

    >>> torch.tensor([0.0, 2.0]).to_sparse_coo().indices()
    tensor([[1]])
    """
    return sparse_of(self)


@op("Tensor")
def to_sparse_csr(self: Tensor, dense_dim=None):
    """A sparse matrix by rows.

    Args:
        dense_dim: how many dimensions the values have; 0 or None.

    Shape: that of self, (n, m).

    >>> torch.tensor([[0.0, 2.0], [1.0, 0.0]]).to_sparse_csr().crow_indices()
    tensor([0, 1, 2])
    """
    return RULES["to_sparse_csr"](sparse_of(self), dense_dim)


@op("Tensor")
def to_sparse_csc(self: Tensor, dense_dim=None):
    """A sparse matrix by columns.

    Args:
        dense_dim: how many dimensions the values have; 0 or None.

    Shape: that of self, (n, m).

    >>> torch.tensor([[0.0, 2.0], [1.0, 0.0]]).to_sparse_csc().row_indices()
    tensor([1, 0])
    """
    return RULES["to_sparse_csc"](sparse_of(self), dense_dim)


@rule("detach alias")
def detach(input):
    """The same without history."""
    return with_values(input, input._v.detach())


@rule("clone")
def clone(input, *, memory_format=None):
    """A copy with parts of its own."""
    values = input._v.clone()
    if isinstance(input, Compressed):
        return compressed(
            type(input), input._c.clone(), input._p.clone(), values, input._size, "CloneBackward0"
        )
    return coordinates(input._i.clone(), values, input._size, input._coalesced, "CloneBackward0")


def _without_entries(x, values):
    """x on the device meta, where it has no entries, as in torch."""
    if isinstance(x, Compressed):
        parts = x._c.to("meta"), x._p[:0].to("meta")
        return compressed(type(x), *parts, values[:0], x._size, "ToCopyBackward0")
    indices = x._i[:, :0].to("meta")
    return coordinates(indices, values[:0], x._size, x._coalesced, "ToCopyBackward0")


def _moved(x, device, dtype, copy=False, non_blocking=False):
    dtype = x._v.dtype if dtype is None else dtype
    device = x._v.device if device is None else _C.device(device)
    values = x._v.to(device, dtype, non_blocking, copy)
    if values is x._v:
        return x
    if device.type == "meta":
        return _without_entries(x, values)
    parts = [vars(x)[name].to(values.device, copy=copy)
             for name in ("_i", "_c", "_p") if name in vars(x)]  # fmt: skip
    node = "ToCopyBackward0"
    if isinstance(x, Compressed):
        return compressed(type(x), *parts, values, x._size, node)
    return coordinates(*parts, values, x._size, x._coalesced, node)


@rule("to")
def to(input, *args, **kwargs):
    """On another device, of another dtype."""
    device = kwargs.get("device")
    dtype = kwargs.get("dtype")
    other = kwargs.get("other")
    rest = []
    for arg in args:
        if isinstance(arg, _C.dtype):
            dtype = arg
        elif isinstance(arg, Tensor):
            other = arg
        elif isinstance(arg, bool):
            rest.append(arg)
        elif arg is not None:
            device = arg
    if not is_sparse(input):
        return input.to(other.device, other.dtype)
    if other is not None:
        device, dtype = other.device, other.dtype
    copy = kwargs.get("copy", rest[1] if len(rest) > 1 else False)
    return _moved(
        input, device, dtype, copy, kwargs.get("non_blocking", bool(rest[:1] and rest[0]))
    )


def taken(x, dtype, device, copy, requires_grad):
    """torch.tensor(x) and as_tensor(x): called by csrc/bindings/rows/from_data.cpp."""
    made = _moved(x, device, dtype, copy)
    if not copy:
        return made
    made = with_values(made, made._v.detach())
    if requires_grad:
        made._v.requires_grad_()
    return made


@rule("type_as")
def type_as(input, other):
    """As other, which is sparse too."""
    if not is_sparse(other):
        raise RuntimeError(
            "to(options) doesn't support converting to a different layout, but got "
            "self.layout being Sparse and options.layout set as Strided\nuse x.to_dense()"
        )
    return to(input, other)


@rule("cpu")
def cpu(input, **_):
    """On the CPU."""
    return _moved(input, "cpu", None)


@rule("cuda")
def cuda(input, device=None, non_blocking=False, **_):
    """On a GPU."""
    if device is None:
        device = "cuda"
    elif isinstance(device, int):
        device = f"cuda:{device}"
    return _moved(input, device, None, non_blocking=non_blocking)


def _cast(name, dtype):
    def cast(input, **_):
        return _moved(input, None, dtype)

    rule(name)(cast)


for _name, _dtype in (
    ("float", _C.float32), ("double", _C.float64), ("half", _C.float16),
    ("bfloat16", _C.bfloat16), ("int", _C.int32), ("long", _C.int64), ("short", _C.int16),
    ("char", _C.int8), ("byte", _C.uint8), ("bool", _C.bool), ("cfloat", _C.complex64),
    ("cdouble", _C.complex128),
):  # fmt: skip
    _cast(_name, _dtype)


@rule("sparse_mask")
def sparse_mask(self, mask):
    """The elements at the mask's entries."""
    if not is_sparse(mask):
        refuse("sparse_mask", (self,), {})
    if isinstance(mask, Compressed) or isinstance(self, Compressed):
        refuse("sparse_mask", (self, mask), {})
    if tuple(self.shape) != tuple(mask._size):
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(self.shape)} "
            f"but mask has size {list(mask._size)}"
        )
    return coordinates(
        mask._i, at_entries(self, mask), mask._size, mask._coalesced, "SparseMaskBackward0"
    )


def at_entries(x, mask):
    """The elements of x, sparse or dense, at the entries of a sparse tensor of its sizes."""
    count = mask._i.shape[0]
    if not is_sparse(x):
        flat = x.reshape(math.prod(mask._size[:count]), *mask._size[count:])
        return flat.index_select(0, places(mask))
    x = coalesced(x)
    there, wanted = places(x), places(mask)
    if not there.numel():
        return x._v.new_zeros((wanted.shape[0], *x._v.shape[1:]))
    at = _C.searchsorted(there, wanted).clamp(max=there.numel() - 1)
    found = (there[at] == wanted).reshape(-1, *[1] * (x._v.dim() - 1))
    return _C.where(found, x._v.index_select(0, at), x._v.new_zeros(()))
