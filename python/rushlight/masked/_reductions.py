"""Sums, extremes, running sums and softmax of what a mask leaves."""

import rushlight
from rushlight.masked._masks import dim_of, dims_of, filled, largest, least, wide
from rushlight.nn import functional as F


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The sum of what the mask leaves.

    Args:
        input: any tensor.
        dim: the dimension, or several; None for all.
        keepdim: whether they stay, with size 1.
        dtype: of the result.
        mask: bools, broadcast to the input's shape; False is left out. None: all is taken.

    Shape: (*) without the dimensions `dim`.

    >>> torch.masked.sum(torch.tensor([1., 2., 4.]), mask=torch.tensor([True, False, True]))
    tensor(5.)
    """
    result = filled(input, mask, 0)
    return rushlight.sum(result, dims_of(dim, input.ndim), bool(keepdim), dtype=wide(dtype, input))


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The product of what the mask leaves.

    Args:
        input: any tensor.
        dim: the dimension, or several; None for all.
        keepdim: whether they stay, with size 1.
        dtype: of the result.
        mask: bools, broadcast to the input's shape; False is left out. None: all is taken.

    Shape: (*) without the dimensions `dim`.

    >>> torch.masked.prod(torch.tensor([1., 2., 4.]), mask=torch.tensor([True, False, True]))
    tensor(4.)
    """
    result = filled(input, mask, 1)
    none = isinstance(dim, list) and not dim  # of torch's own: [] is none, and () all of them
    for d in () if none else reversed(dims_of(dim, input.ndim)):
        result = result.prod(dim=d, keepdim=bool(keepdim))
    return result.to(wide(dtype, input))


def cumsum(input, dim, *, dtype=None, mask=None):
    """Running sums in which what the mask leaves out counts as 0.

    Args:
        input: any tensor.
        dim: the dimension.
        dtype: of the result.
        mask: bools, broadcast to the input's shape; False is left out. None: all is taken.

    Shape: (*), kept.

    >>> torch.masked.cumsum(torch.tensor([1., 2., 4.]), 0, mask=torch.tensor([True, False, True]))
    tensor([1., 1., 5.])
    """
    along = dim_of(dim, input.ndim)
    return rushlight.cumsum(filled(input, mask, 0), along, dtype=dtype or input.dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    """Running products in which what the mask leaves out counts as 1.

    Args:
        input: any tensor.
        dim: the dimension.
        dtype: of the result.
        mask: bools, broadcast to the input's shape; False is left out. None: all is taken.

    Shape: (*), kept.

    >>> torch.masked.cumprod(torch.tensor([1., 2., 4.]), 0, mask=torch.tensor([True, False, True]))
    tensor([1., 1., 4.])
    """
    along = dim_of(dim, input.ndim)
    return rushlight.cumprod(filled(input, mask, 1), along, dtype=dtype or input.dtype)


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The largest of what the mask leaves.

    Args:
        input: any tensor.
        dim: the dimension, or several; None for all.
        keepdim: whether they stay, with size 1.
        dtype: of the result.
        mask: bools, broadcast to the input's shape; False is left out. None: all is taken.

    Shape: (*) without the dimensions `dim`.

    >>> torch.masked.amax(torch.tensor([1., 2., 4.]), mask=torch.tensor([True, False, True]))
    tensor(4.)
    """
    result = filled(input, mask, least(input.dtype))
    return rushlight.amax(result, dims_of(dim, input.ndim), bool(keepdim)).to(dtype or input.dtype)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The smallest of what the mask leaves.

    Args:
        input: any tensor.
        dim: the dimension, or several; None for all.
        keepdim: whether they stay, with size 1.
        dtype: of the result.
        mask: bools, broadcast to the input's shape; False is left out. None: all is taken.

    Shape: (*) without the dimensions `dim`.

    >>> torch.masked.amin(torch.tensor([1., 2., 4.]), mask=torch.tensor([True, False, True]))
    tensor(1.)
    """
    result = filled(input, mask, largest(input.dtype))
    return rushlight.amin(result, dims_of(dim, input.ndim), bool(keepdim)).to(dtype or input.dtype)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The index of the largest of what the mask leaves.

    Args:
        input: any tensor.
        dim: the dimension; None for the index in all elements.
        keepdim: whether they stay, with size 1.
        dtype: of the result.
        mask: bools, broadcast to the input's shape; False is left out. None: all is taken.

    Shape: (*) without the dimensions `dim`.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.argmax(torch.tensor([1., 2., 4.]), dtype=torch.int64, mask=mask)
    tensor(2)
    """
    result = filled(input, mask, least(input.dtype))
    return rushlight.argmax(result, dim, bool(keepdim)).to(dtype or input.dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The index of the smallest of what the mask leaves.

    Args:
        input: any tensor.
        dim: the dimension; None for the index in all elements.
        keepdim: whether they stay, with size 1.
        dtype: of the result.
        mask: bools, broadcast to the input's shape; False is left out. None: all is taken.

    Shape: (*) without the dimensions `dim`.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.argmin(torch.tensor([1., 2., 4.]), dtype=torch.int64, mask=mask)
    tensor(0)
    """
    result = filled(input, mask, largest(input.dtype))
    return rushlight.argmin(result, dim, bool(keepdim)).to(dtype or input.dtype)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The logarithm of the sum of exp(x) over what the mask leaves.

    Args:
        input: any tensor.
        dim: the dimension, or several; None for all.
        keepdim: whether they stay, with size 1.
        dtype: of the result.
        mask: bools, broadcast to the input's shape; False is left out. None: all is taken.

    Shape: (*) without the dimensions `dim`.

    >>> torch.masked.logsumexp(torch.tensor([0., 2., 0.]), mask=torch.tensor([True, False, True]))
    tensor(0.6931)
    """
    result = filled(input, mask, least(input.dtype))
    dims = dims_of(dim, input.ndim)
    return rushlight.logsumexp(result, dims, keepdim=bool(keepdim)).to(dtype or input.dtype)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """log(exp(input) + exp(other)), in which what a mask leaves out counts as -inf.

    Args:
        input: any tensor.
        other: the same.
        dtype: of the result.
        input_mask: bools, of the input.
        other_mask: bools, of the other.

    Shape: input (*) and other (*), broadcast.

    >>> torch.masked.logaddexp(torch.zeros(1), torch.zeros(1), other_mask=torch.tensor([False]))
    tensor([0.])
    """
    first = filled(input, input_mask, least(input.dtype))
    second = filled(other, other_mask, least(other.dtype))
    return rushlight.logaddexp(first, second).to(dtype or input.dtype)


def softmax(input, dim, *, dtype=None, mask=None):
    """Softmax of what the mask leaves.

    Args:
        input: any tensor.
        dim: the dimension.
        dtype: of the result.
        mask: bools, broadcast to the input's shape; False is left out. None: all is taken.

    Shape: (*), kept.

    >>> torch.masked.softmax(torch.tensor([1., 2., 1.]), 0, mask=torch.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    along = dim_of(dim, input.ndim)
    return F.softmax(filled(input, mask, least(input.dtype)), along, dtype=dtype or input.dtype)


def log_softmax(input, dim, *, dtype=None, mask=None):
    """The logarithm of softmax of what the mask leaves.

    Args:
        input: any tensor.
        dim: the dimension.
        dtype: of the result.
        mask: bools, broadcast to the input's shape; False is left out. None: all is taken.

    Shape: (*), kept.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.log_softmax(torch.tensor([1., 2., 1.]), 0, mask=mask)
    tensor([-0.6931,    -inf, -0.6931])
    """
    along = dim_of(dim, input.ndim)
    return F.log_softmax(filled(input, mask, least(input.dtype)), along, dtype=dtype or input.dtype)


def softmin(input, dim, *, dtype=None, mask=None):
    """Softmin of what the mask leaves.

    Args:
        input: any tensor.
        dim: the dimension.
        dtype: of the result.
        mask: bools, broadcast to the input's shape; False is left out. None: all is taken.

    Shape: (*), kept.

    >>> torch.masked.softmin(torch.tensor([1., 2., 1.]), 0, mask=torch.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    along = dim_of(dim, input.ndim)
    return F.softmin(filled(input, mask, largest(input.dtype)), along, dtype=dtype or input.dtype)
