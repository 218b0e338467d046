"""make_tensor: a tensor of random values of any dtype, within a range."""

import math
import warnings

from rushlight import _C
from rushlight._type_info import finfo, iinfo

_INTEGERS = (
    _C.uint8, _C.int8, _C.int16, _C.int32, _C.int64, _C.uint16, _C.uint32, _C.uint64,
)  # fmt: skip
# Of complex numbers both parts are drawn.
_FLOATS = (
    _C.float16, _C.bfloat16, _C.float32, _C.float64, _C.complex32, _C.complex64, _C.complex128,
)  # fmt: skip
_FLOAT8 = (_C.float8_e4m3fn, _C.float8_e5m2, _C.float8_e4m3fnuz, _C.float8_e5m2fnuz)
# Dtypes that are stored, not computed with: what their values are drawn as.
_DRAWN_AS = dict.fromkeys((_C.uint16, _C.uint32, _C.uint64), _C.int64) | dict.fromkeys(
    _FLOAT8, _C.float32
)


def make_tensor(
    *shape,
    dtype,
    device,
    low=None,
    high=None,
    requires_grad=False,
    noncontiguous=False,
    exclude_zero=False,
    memory_format=None,
):
    """A tensor of values drawn evenly from low (included) to high (not included).

    Args:
        shape: ints, or one sequence of them.
        dtype: the element type.
        device: where to put it.
        low: the least value; by default -9, and 0 for bool and uint8.
        high: the end of the range; by default 9 for floating-point dtypes, 10 for integers.
        requires_grad: record operations on it.
        noncontiguous: with gaps between the elements, if there are two or more.
        exclude_zero: zeros become 1, or the least normal number of a floating-point dtype.
        memory_format: the order of the dimensions in memory.

    Shape: the one given.

    Raises:
        ValueError: for an empty or impossible range, or integers that shall require grad.

    >>> torch.testing.make_tensor(2, 3, dtype=torch.int64, device="cpu", low=4, high=5)
    tensor([[4, 4, 4],
            [4, 4, 4]])
    """
    if len(shape) == 1 and not isinstance(shape[0], int):
        shape = tuple(shape[0])
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"{noncontiguous=} and {memory_format=}"
        )
    if dtype not in (_C.bool, *_INTEGERS, *_FLOATS, *_FLOAT8):
        raise TypeError(
            f"The requested dtype '{dtype}' is not supported by torch.testing.make_tensor()."
        )
    if requires_grad and dtype not in (*_FLOATS, *_FLOAT8):
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
            f"{dtype=}"
        )
    noncontiguous = noncontiguous and math.prod(shape) > 1
    if noncontiguous:  # every second element of a wider tensor, from the second on
        shape = (*shape[:-1], 2 * shape[-1])
    low, high = _range(dtype, low, high)
    kind = _DRAWN_AS.get(dtype, dtype)
    if kind in _FLOATS:
        result = _C.empty(shape, dtype=kind, device=device)
        numbers = _C.view_as_real(result) if kind == _C.complex32 else result
        if high - low >= finfo(kind).max:
            numbers.uniform_(low / 2, high / 2).mul_(2)
        else:
            numbers.uniform_(low, high)
    else:
        result = _C.randint(low, high, shape, dtype=kind, device=device)
    if exclude_zero:
        numbers = _C.view_as_real(result) if kind == _C.complex32 else result
        zero = (numbers == 0).all(-1) if kind == _C.complex32 else numbers == 0
        numbers[zero] = 1 if dtype in (_C.bool, *_INTEGERS) else finfo(dtype).tiny
    result = result.to(dtype)
    if noncontiguous:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    return result.requires_grad_(requires_grad and dtype in _FLOATS)


def _range(dtype, low, high):
    """The range as given, or the default one, within what the dtype can hold."""
    if dtype == _C.bool:
        least, end, usual = 0, 2, (0, 2)
    elif dtype in (*_FLOATS, *_FLOAT8):
        least, end, usual = finfo(dtype).min, finfo(dtype).max, (-9, 9)
    else:
        info = iinfo(dtype)  # the random integers end below the greatest int64
        least, end, usual = info.min, info.max + (dtype != _C.int64), (-9, 10)
    low, high = usual[0] if low is None else low, usual[1] if high is None else high
    if low != low or high != high:
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    floating = dtype in (*_FLOATS, *_FLOAT8)
    if low == high and dtype in _FLOATS:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is "
            "deprecated: use `torch.full(...)`",
            FutureWarning,
            stacklevel=3,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if high < least or low >= end:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} "
            f"only supports [{least}, {end})"
        )
    low, high = min(max(low, least), end), min(max(high, least), end)
    return (low, high) if floating else (math.ceil(low), math.ceil(high))
