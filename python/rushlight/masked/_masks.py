"""What a mask leaves: the other elements become the one that an operation does not see."""

import rushlight


def input_mask(input, mask):
    """The mask, of bools and of the input's shape."""
    if mask is None:
        raise ValueError("_input_mask requires explicit mask")
    if mask.ndim > input.ndim:
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the "
            f"input)\ninput: {tuple(input.shape)}, mask: {tuple(mask.shape)}"
        )
    return mask.bool().expand(input.shape)


def filled(input, mask, value):
    """The input with `value` where the mask is False."""
    if mask is None:
        return input
    neutral = rushlight.full((), value, dtype=input.dtype, device=input.device)
    return rushlight.where(input_mask(input, mask), input, neutral)


def least(dtype):
    """No element of the dtype is smaller."""
    if dtype.is_floating_point or dtype.is_complex:
        return -rushlight.inf
    return False if dtype is rushlight.bool else rushlight.iinfo(dtype).min


def largest(dtype):
    """No element of the dtype is larger."""
    if dtype.is_floating_point:
        return rushlight.inf
    return True if dtype is rushlight.bool else rushlight.iinfo(dtype).max


def dims_of(dim, ndim):
    """Dimensions in order, from 0 on; None and () are all of them."""
    if dim is None or (isinstance(dim, tuple | list) and not dim):
        return tuple(range(ndim))
    dims = tuple(dim) if isinstance(dim, tuple | list) else (dim,)
    wrapped = []
    for d in dims:
        if not -max(ndim, 1) <= d < max(ndim, 1):
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-max(ndim, 1)}, "
                f"{max(ndim, 1) - 1}], but got {d})"
            )
        if d % max(ndim, 1) in wrapped:
            raise RuntimeError(f"dim={d % max(ndim, 1)} appears multiple times in the list of dims")
        wrapped.append(d % max(ndim, 1))
    return tuple(sorted(wrapped)) if ndim else ()


def dim_of(dim, ndim):
    """One dimension, from 0 on; of a scalar it is 0."""
    (along,) = dims_of(dim, ndim) or (0,)
    return along


def wide(dtype, input):
    """Sums of integers are int64, if nothing else is asked for."""
    if dtype is not None:
        return dtype
    return input.dtype if input.dtype.is_floating_point or input.is_complex() else rushlight.int64
