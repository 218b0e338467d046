"""Means, deviations, medians and norms of what a mask leaves."""

import math

import rushlight
from rushlight.masked._masks import dim_of, dims_of, filled, input_mask
from rushlight.masked._reductions import sum


def _count(input, dim, keepdim, mask):
    taken = rushlight.ones_like(input, dtype=rushlight.bool) if mask is None else mask
    return sum(input_mask(input, taken), dim, keepdim=keepdim)


def _dtypes(input, dtype):
    """Of a deviation, and what it is computed in."""
    own = input.dtype
    floating = own.is_floating_point or own.is_complex
    dtype = dtype or (own if floating else rushlight.float32)
    whole = not (dtype.is_floating_point or dtype.is_complex)
    return dtype, rushlight.float32 if whole else dtype


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The mean of what the mask leaves.

    Args:
        input: any tensor.
        dim: the dimension, or several; None for all.
        keepdim: whether they stay, with size 1.
        dtype: of the result.
        mask: bools, broadcast to the input's shape; False is left out. None: all is taken.

    Shape: (*) without the dimensions `dim`.

    Raises:
        ValueError: if the result would be of integers.

    >>> torch.masked.mean(torch.tensor([1., 2., 4.]), mask=torch.tensor([True, False, True]))
    tensor(2.5000)
    """
    result = dtype or input.dtype
    if not (result.is_floating_point or result.is_complex):
        raise ValueError(
            f"mean(): Could not infer output dtype. {'Optional' if dtype else 'Input'} dtype must "
            f"be either a floating point or complex dtype. Got: {result}"
        )
    total = sum(input, dim, keepdim=keepdim, dtype=result, mask=mask)
    return total / _count(input, dim, keepdim, mask)


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The lower median of what the mask leaves.

    Args:
        input: any tensor.
        dim: the dimension.
        keepdim: whether it stays, with size 1.
        dtype: of the result.
        mask: bools, broadcast to the input's shape; False is left out. None: all is taken.

    Shape: (*) without the dimension `dim`.

    Raises:
        ValueError: if the mask leaves nothing of a row of integers.

    >>> torch.masked.median(torch.tensor([1., 2., 4.]), mask=torch.tensor([True, False, True]))
    tensor(1.)
    """
    along = dim_of(dim, input.ndim)
    floating = input.is_floating_point()
    values = filled(input if floating else input.float(), mask, math.nan)
    result = rushlight.nanmedian(values, along, bool(keepdim)).values
    if floating:
        return result
    if result.isnan().any():
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not floating point"
        )
    return result.to(dtype or input.dtype)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The norm of what the mask leaves, as torch.linalg.vector_norm().

    Args:
        input: any tensor.
        ord: the order; inf and -inf are extremes of absolute values.
        dim: the dimension, or several; None for all.
        keepdim: whether they stay, with size 1.
        dtype: in which it is computed.
        mask: bools, broadcast to the input's shape; False is left out. None: all is taken.

    Shape: (*) without the dimensions `dim`.

    >>> torch.masked.norm(torch.tensor([3., 2., 4.]), mask=torch.tensor([True, False, True]))
    tensor(5.)
    """
    values = filled(input, mask, math.inf if ord == -math.inf else 0)
    dims = dims_of(dim, input.ndim)
    return rushlight.linalg.vector_norm(
        values, ord, dims, bool(keepdim), dtype=dtype or input.dtype
    )


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """What the mask leaves, divided by its norm; 0 elsewhere.

    Args:
        input: any tensor.
        ord: the order of the norm.
        dim: the dimension.
        eps: the least divisor.
        dtype: in which the norm is computed.
        mask: bools, broadcast to the input's shape; False is left out. None: all is taken.

    Shape: (*), kept.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.normalize(torch.tensor([3., 2., 4.]), 2., 0, mask=mask)
    tensor([0.6000, 0.0000, 0.8000])
    """
    size = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return filled(input, mask, 0) / rushlight.maximum(size, size.new_full((), eps))


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The variance of what the mask leaves.

    Args:
        input: any tensor.
        dim: the dimension, or several; None for all.
        unbiased: whether 1 is taken off the count.
        correction: what is taken off the count; 1 by default.
        keepdim: whether they stay, with size 1.
        dtype: of the result.
        mask: bools, broadcast to the input's shape; False is left out. None: all is taken.

    Shape: (*) without the dimensions `dim`.

    >>> torch.masked.var(torch.tensor([1., 2., 3.]), mask=torch.tensor([True, False, True]))
    tensor(2.)
    """
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    off = (1 if unbiased is None else int(unbiased)) if correction is None else correction
    dtype, computed = _dtypes(input, dtype)
    count = _count(input, dim, True, mask)
    middle = sum(input, dim, keepdim=True, dtype=computed, mask=mask) / count
    apart = input - middle
    total = sum(apart * apart.conj(), dim, keepdim=keepdim, dtype=computed, mask=mask)
    count = count if keepdim else count.reshape(total.shape)
    return (total / (count - off).clamp(min=0)).to(dtype)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The standard deviation of what the mask leaves: the square root of var().

    Args:
        as of torch.masked.var.

    Shape: (*) without the dimensions `dim`.

    >>> torch.masked.std(torch.tensor([1., 2., 5.]), mask=torch.tensor([True, False, True]))
    tensor(2.8284)
    """
    options = {"correction": correction, "keepdim": keepdim, "mask": mask}
    dtype, computed = _dtypes(input, dtype)
    return var(input, dim, unbiased, dtype=computed, **options).sqrt().to(dtype)
