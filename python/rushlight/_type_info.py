"""finfo and iinfo: the limits of dtypes."""

from rushlight import _C
from rushlight._dtype_names import as_dtype

# bits, digits of the fraction, least normal exponent, greatest exponent, decimal digits kept
_FLOATS = {
    _C.float16: (16, 10, -14, 15, 3),
    _C.bfloat16: (16, 7, -126, 127, 2),
    _C.float32: (32, 23, -126, 127, 6),
    _C.float64: (64, 52, -1022, 1023, 15),
}
# eps as torch has it, least normal exponent, least and greatest value
_SMALL = {
    _C.float8_e4m3fn: (0.125, -6, -448.0, 448.0),
    _C.float8_e4m3fnuz: (0.125, -7, -240.0, 240.0),
    _C.float8_e5m2: (0.25, -14, -57344.0, 57344.0),
    _C.float8_e5m2fnuz: (0.125, -15, -57344.0, 57344.0),
    _C.float8_e8m0fnu: (1.0, -127, 2.0**-127, 2.0**127),
}
_INTEGERS = {
    _C.uint8: (8, False),
    _C.int8: (8, True),
    _C.int16: (16, True),
    _C.int32: (32, True),
    _C.int64: (64, True),
    _C.uint16: (16, False),
    _C.uint32: (32, False),
    _C.uint64: (64, False),
}


class _Info:
    __slots__ = ("_dtype", "bits", "dtype")
    __hash__ = None  # type: ignore[assignment]

    def _start(self, kind, bits):
        self._dtype, self.bits = kind, bits
        self.dtype = str(kind).removeprefix("torch.")

    def __eq__(self, other):
        return type(self) is type(other) and self._dtype == other._dtype


def _given_dtype(name, given):
    """The dtype, also of Python's own numbers."""
    dtype = as_dtype(given)
    if isinstance(dtype, _C.dtype):
        return dtype
    raise TypeError(
        f"{name}(): argument 'type' (position 1) must be torch.dtype, not {type(given).__name__}"
    )


class finfo(_Info):
    """The limits of a floating-point dtype.

    Args:
        type: the dtype; by default the one of new floating-point tensors.

    Raises:
        TypeError: for a dtype that is not floating point.

    >>> torch.finfo(torch.float32).eps
    1.1920928955078125e-07
    """

    __slots__ = ("eps", "max", "min", "resolution", "smallest_normal", "tiny")

    def __init__(self, type=None):
        dtype = _C.get_default_dtype() if type is None else type
        dtype = _given_dtype("finfo", dtype).to_real()
        if dtype in _SMALL:
            self.eps, low, self.min, self.max = _SMALL[dtype]
            self._start(dtype, 8)
            self.resolution = 1.0
            self.tiny = self.smallest_normal = 2.0**low
            return
        if dtype not in _FLOATS:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                f"'torch.finfo'\nit was given {dtype}"
            )
        bits, fraction, low, high, digits = _FLOATS[dtype]
        self._start(dtype, bits)
        self.eps = 2.0**-fraction
        self.max = (2.0 - self.eps) * 2.0**high
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0**low
        self.resolution = float(f"1e-{digits}")

    def __repr__(self):
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        values = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({values}, dtype={self.dtype})"


class iinfo(_Info):
    """The limits of an integer dtype.

    Args:
        type: the dtype.

    Raises:
        TypeError: for a dtype that is not an integer type.

    >>> torch.iinfo(torch.int8).max
    127
    """

    __slots__ = ("max", "min")

    def __init__(self, type):
        type = _given_dtype("iinfo", type)
        if type == _C.bool:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if type not in _INTEGERS:
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle "
                f"'torch.iinfo'\nit was given {type}"
            )
        bits, signed = _INTEGERS[type]
        self._start(type, bits)
        self.max = 2 ** (bits - signed) - 1
        self.min = -(2 ** (bits - 1)) if signed else 0

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
