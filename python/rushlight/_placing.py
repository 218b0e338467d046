"""Copies with a part replaced, reductions at indices, membership."""

from __future__ import annotations

from rushlight import _C
from rushlight._results import check_tensors, deliver, dtype_name, wrapped
from rushlight._table import op
from rushlight._type_info import iinfo
from rushlight.autograd.function import Function

__all__ = [
    "as_strided_scatter",
    "diagflat",
    "diagonal_scatter",
    "dsplit",
    "fill",
    "hsplit",
    "index_reduce",
    "isin",
    "put",
    "scatter_reduce",
    "select_scatter",
    "slice_scatter",
    "unsafe_chunk",
    "unsafe_split",
    "vsplit",
]


@op("torch", "Tensor")
def isin(elements, test_elements, *, assume_unique=False, invert=False, out=None):
    """Which elements occur among test_elements.

    Args:
        invert: which do not.

    >>> torch.isin(torch.tensor([1, 2, 3]), torch.tensor([2, 3]))
    tensor([False,  True,  True])
    """
    if not isinstance(elements, _C.Tensor) and not isinstance(test_elements, _C.Tensor):
        raise TypeError(
            "isin() received an invalid combination of arguments: one of 'elements' and "
            "'test_elements' must be a Tensor"
        )
    if not isinstance(elements, _C.Tensor):
        elements = _C.tensor(elements, device=test_elements.device)
    if not isinstance(test_elements, _C.Tensor):
        test_elements = _C.tensor(test_elements, device=elements.device)
    for x, other in ((elements, test_elements), (test_elements, elements)):
        if x.dtype == _C.bool:
            words = "elements" if x is elements else "test_elements"
            raise RuntimeError(
                f"Unsupported input type encountered for isin(): {dtype_name(x.dtype)} ({words})"
            )
        if x.device != other.device:
            raise RuntimeError(
                "isin(): Expected elements and test_elements to be on the same device, but found "
                f"{elements.device} and {test_elements.device}"
            )
    dtype = _C.promote_types(elements.dtype, test_elements.dtype)
    table = test_elements.detach().reshape(-1).to(dtype).sort().values
    x = elements.detach().to(dtype)
    if table.numel() == 0:
        found = _C.zeros_like(x, dtype=_C.bool)
    else:
        places = _C.searchsorted(table, x).clamp_max(table.numel() - 1)
        found = table[places] == x
    return deliver("isin", ~found if invert else found, out)


def _replaced(name, input, src, view):
    """A copy of input whose view(copy) is src."""
    check_tensors(name, input=input, src=src)
    result = _C.empty_like(input).copy_(input) if input.numel() else input.clone()
    part = view(result)
    if part.shape != src.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(part.shape)}"
        )
    part.copy_(src)
    return result


@op("torch", "Tensor")
def select_scatter(input, src, dim, index, *, out=None):
    """A copy of input with src at one index of a dimension.

    >>> torch.select_scatter(torch.zeros(2, 2), torch.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    result = _replaced("select_scatter", input, src, lambda t: t.select(dim, index))
    return deliver("select_scatter", result, out)


@op("torch", "Tensor")
def slice_scatter(input, src, dim=0, start=None, end=None, step=1, *, out=None):
    """A copy of input with src in a slice of a dimension.

    >>> torch.slice_scatter(torch.zeros(3), torch.ones(2), 0, 1)
    tensor([0., 1., 1.])
    """
    check_tensors("slice_scatter", input=input, src=src)
    at = wrapped(dim, input.dim())
    key = (slice(None),) * at + (slice(start, end, step),)
    result = _replaced("slice_scatter", input, src, lambda t: t[key])
    return deliver("slice_scatter", result, out)


@op("torch", "Tensor")
def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1, *, out=None):
    """A copy of input with src on a diagonal.

    >>> torch.diagonal_scatter(torch.zeros(2, 2), torch.ones(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    result = _replaced("diagonal_scatter", input, src, lambda t: t.diagonal(offset, dim1, dim2))
    return deliver("diagonal_scatter", result, out)


@op("torch", "Tensor")
def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """A copy of input with src where as_strided() points to; the copy's memory lies as input's.

    >>> torch.as_strided_scatter(torch.zeros(4), torch.ones(2), (2,), (2,))
    tensor([1., 0., 1., 0.])
    """
    check_tensors("as_strided_scatter", input=input, src=src)
    start = input.storage_offset()
    reach = sum((n - 1) * s for n, s in zip(input.shape, input.stride(), strict=True))
    room = start + reach + 1 if input.numel() else start
    # Which element of input lies at each place of its memory; -1 in the gaps.
    owner = _C.full((room,), -1, device=input.device)
    elements = _C.arange(input.numel(), device=input.device).view(input.shape)
    owner.as_strided(input.shape, input.stride(), start).copy_(elements)
    places = owner.as_strided(size, stride, start if storage_offset is None else storage_offset)
    if places.shape != src.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(places.shape)}"
        )
    seen = places >= 0
    if not seen.all():
        places, src = places[seen], src[seen]
    if places.numel() == 0:
        return input.clone()
    return put(input, places, src.to(input.dtype))


@op("torch", "Tensor")
def diagflat(input, offset=0):
    """All elements on a diagonal of a matrix.

    >>> torch.diagflat(torch.tensor([[1], [2]]))
    tensor([[1, 0],
            [0, 2]])
    """
    check_tensors("diagflat", input=input)
    return _C.diag(input.reshape(-1), offset)


def _split_evenly(name, input, given, dim, least):
    check_tensors(name, input=input)
    if input.dim() < least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor "
            f"with {input.dim()} dimensions!"
        )
    if isinstance(given, int) and (given == 0 or input.shape[dim] % given):
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
            f"{input.shape[dim]} is not divisible by the split_size {given}!"
        )
    return _C.tensor_split(input, given, dim)


@op("torch", "Tensor")
def hsplit(input, indices_or_sections):
    """tensor_split() along the second dimension, or the only one; a number divides its size.

    >>> torch.hsplit(torch.arange(4), 2)
    (tensor([0, 1]), tensor([2, 3]))
    """
    dim = 0 if isinstance(input, _C.Tensor) and input.dim() == 1 else 1
    return _split_evenly("hsplit", input, indices_or_sections, dim, 1)


@op("torch", "Tensor")
def vsplit(input, indices_or_sections):
    """tensor_split() along the first dimension; a number divides its size.

    >>> torch.vsplit(torch.tensor([[1, 2], [3, 4]]), 2)
    (tensor([[1, 2]]), tensor([[3, 4]]))
    """
    return _split_evenly("vsplit", input, indices_or_sections, 0, 2)


@op("torch", "Tensor")
def dsplit(input, indices_or_sections):
    """tensor_split() along the third dimension; a number divides its size.

    >>> [t.shape for t in torch.dsplit(torch.zeros(1, 1, 4), 2)]
    [torch.Size([1, 1, 2]), torch.Size([1, 1, 2])]
    """
    return _split_evenly("dsplit", input, indices_or_sections, 2, 3)


@op("torch", "Tensor")
def unsafe_chunk(input, chunks, dim=0):
    """chunk(), of copies.

    >>> torch.unsafe_chunk(torch.arange(4), 2)
    (tensor([0, 1]), tensor([2, 3]))
    """
    return tuple(part.clone() for part in _C.chunk(input, chunks, dim))


@op("torch", "Tensor")
def unsafe_split(tensor, split_size, dim=0):
    """split(), of copies.

    >>> torch.unsafe_split(torch.arange(4), 2)
    (tensor([0, 1]), tensor([2, 3]))
    """
    return tuple(part.clone() for part in _C.split(tensor, split_size, dim))


@op("torch")
def fill(input, value):
    """A tensor like input, full of value.

    >>> torch.fill(torch.zeros(2), 3)
    tensor([3., 3.])
    """
    check_tensors("fill", input=input)
    if isinstance(value, _C.Tensor):
        if value.dim():
            raise RuntimeError(
                "fill only supports 0-dimension value tensor but got tensor with "
                f"{value.dim()} dimensions."
            )
        return (
            input * 0 + value.to(input.dtype)
            if input.requires_grad
            else (_C.empty_like(input).copy_(value))
        )
    return input.clone().fill_(value)


@op("torch", "Tensor", in_place=["Tensor"])
def put(input, index, source, accumulate=False):
    """A copy of input with source at positions of the flat tensor.

    Args:
        accumulate: add instead.

    >>> torch.put(torch.zeros(2, 2), torch.tensor([0, 3]), torch.tensor([5.0, 7.0]))
    tensor([[5., 0.],
            [0., 7.]])
    """
    check_tensors("put", input=input, index=index, source=source)
    if index.dtype != _C.int64:
        raise RuntimeError(
            f"put_(): Expected a long tensor for index, but got {dtype_name(index.dtype)}"
        )
    if source.dtype != input.dtype:
        raise RuntimeError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{dtype_name(input.dtype)} and source.dtype = {dtype_name(source.dtype)}"
        )
    if index.numel() != source.numel():
        raise RuntimeError(
            f"put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.numel()}, index.numel() = {index.numel()}"
        )
    if input.numel() == 0 and index.numel():
        raise IndexError("put_(): Tried to put elements into an empty tensor")
    if index.numel() == 0:
        return input.clone()
    count = input.numel()
    bad = index[(index >= count) | (index < -count)]
    if bad.numel():
        raise IndexError(
            f"out of range: tried to access index {int(bad[0])} on a tensor of {count} elements."
        )
    flat = input.reshape(-1)
    placed = _C.index_put(flat, (index.reshape(-1),), source.reshape(-1), accumulate)
    return placed.reshape(input.shape)


_IDENTITIES = {"sum": 0, "prod": 1, "mean": 0, "amax": None, "amin": None}


def _identity(reduce, dtype):
    if _IDENTITIES[reduce] is not None:
        return _IDENTITIES[reduce]
    if dtype.is_floating_point:
        return -float("inf") if reduce == "amax" else float("inf")
    if dtype == _C.bool:
        return reduce == "amin"
    limits = iinfo(dtype)
    return limits.min if reduce == "amax" else limits.max


@op("torch", "Tensor", in_place=["Tensor"])
def scatter_reduce(input, dim, index, src, reduce, *, include_self=True, out=None):
    """A copy of input in which each place holds a reduction of what index sends there from src.

    Args:
        reduce: 'sum', 'prod', 'mean', 'amax' or 'amin'.
        include_self: whether input's own element takes part.

    >>> x = torch.tensor([1.0, 2.0])
    >>> x.scatter_reduce(0, torch.tensor([0, 0]), torch.tensor([3.0, 4.0]), "amax")
    tensor([4., 2.])
    """
    check_tensors("scatter_reduce", input=input)
    check_tensors("scatter_reduce", index=index, src=src)
    if not isinstance(reduce, str):
        raise TypeError(
            "scatter_reduce(): argument 'reduce' (position 5) must be str, not "
            + type(reduce).__name__
        )
    if reduce not in _IDENTITIES:
        raise RuntimeError(
            "reduce argument must be either sum, prod, mean, amax or amin, got " + reduce
        )
    shape = input.shape
    if input.dim() == 0:
        input, index, src = (t.reshape(1) if t.dim() == 0 else t for t in (input, index, src))
    dim = wrapped(dim, input.dim())
    _C.scatter_add(input.detach(), dim, index, src.detach())  # checks all of it
    if index.numel() == 0:
        return deliver("scatter_reduce", input.clone().reshape(shape), out)
    part = src[tuple(slice(0, n) for n in index.shape)]
    base = input
    if not include_self:
        base = base.scatter(dim, index, _identity(reduce, input.dtype))
    if reduce in ("sum", "mean"):
        result = base.scatter_add(dim, index, part)
        if reduce == "mean":
            one = _C.ones_like(part, requires_grad=False)
            start = _C.ones_like(input) if include_self else _C.zeros_like(input)
            count = start.scatter_add(dim, index, one).clamp_min(1)
            floating = input.is_floating_point()
            result = result / count if floating else _C.div(result, count, rounding_mode="floor")
    elif reduce == "prod":
        result = _product_at(base, dim, index, part)
    else:
        result = _Extreme.apply(base, part, index, dim, reduce == "amax")
    return deliver("scatter_reduce", result.reshape(shape), out)


def _product_at(base, dim, index, part):
    result = base
    for i in range(index.shape[dim]):
        at = index.narrow(dim, i, 1)
        result = result.scatter(dim, at, result.gather(dim, at) * part.narrow(dim, i, 1))
    return result


class _Extreme(Function):
    """Written in ascending order, the last one stays; equal ones share the gradient."""

    @staticmethod
    def forward(ctx, base, part, index, dim, largest):
        order = part.sort(dim, descending=not largest, stable=True).indices
        at = index.long().gather(dim, order)
        best = base.clone().scatter_(dim, at, part.gather(dim, order))
        best = (_C.maximum if largest else _C.minimum)(base, best)
        ctx.save_for_backward(base, part, index, best)
        ctx.dim = dim
        return best

    @staticmethod
    def backward(ctx, grad):
        base, part, index, best = ctx.saved_tensors
        own = (base == best).to(grad.dtype)
        theirs = (part == best.gather(ctx.dim, index)).to(grad.dtype)
        count = own.scatter_add(ctx.dim, index, theirs)
        share = grad / count.masked_fill(count == 0, 1)
        return share * own, share.gather(ctx.dim, index) * theirs, None, None, None


@op("torch", "Tensor", in_place=["Tensor"])
def index_reduce(input, dim, index, source, reduce, *, include_self=True, out=None):
    """scatter_reduce() of whole indices of a dimension.

    Args:
        reduce: 'prod', 'mean', 'amax' or 'amin'.

    >>> x = torch.ones(2, 2)
    >>> x.index_reduce(0, torch.tensor([0, 0]), torch.full((2, 2), 3.0), "prod")
    tensor([[9., 9.],
            [1., 1.]])
    """
    check_tensors("index_reduce", input=input)
    check_tensors("index_reduce", index=index, source=source)
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    if index.dim() > 1:
        raise IndexError(
            f"index_reduce_(): Index is supposed to be a vector, but got dim: {index.dim()}"
        )
    if source.dtype != input.dtype:
        raise RuntimeError("index_reduce_(): self and source must have the same scalar type")
    at = wrapped(dim, input.dim())
    whole = index.reshape(-1)
    if input.dim():
        shape = [1] * input.dim()
        shape[at] = -1
        whole = whole.reshape(shape).expand(source.shape)
    result = scatter_reduce(input, dim, whole, source, reduce, include_self=include_self)
    return deliver("index_reduce", result, out)
