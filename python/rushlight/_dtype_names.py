"""The names of dtypes in torch's types of tensors and storages: FloatTensor, HalfStorage; errors
use them too."""

from rushlight import _C

DTYPES = {
    "BFloat16": _C.bfloat16,
    "Bool": _C.bool,
    "Byte": _C.uint8,
    "Char": _C.int8,
    "Double": _C.float64,
    "Float": _C.float32,
    "Half": _C.float16,
    "Int": _C.int32,
    "Long": _C.int64,
    "Short": _C.int16,
}
TENSOR_TYPES = [f"{name}Tensor" for name in DTYPES]
# Complex storages have a type of their own; those of the newer dtypes are saved as bytes.
COMPLEX = {"ComplexDouble": _C.complex128, "ComplexFloat": _C.complex64}
UNTYPED = {
    "ComplexHalf": _C.complex32,
    "Float4_e2m1fn_x2": _C.float4_e2m1fn_x2,
    "Float8_e4m3fn": _C.float8_e4m3fn,
    "Float8_e4m3fnuz": _C.float8_e4m3fnuz,
    "Float8_e5m2": _C.float8_e5m2,
    "Float8_e5m2fnuz": _C.float8_e5m2fnuz,
    "Float8_e8m0fnu": _C.float8_e8m0fnu,
    "UInt16": _C.uint16,
    "UInt32": _C.uint32,
    "UInt64": _C.uint64,
}
NAMES = {dtype: name for name, dtype in {**DTYPES, **COMPLEX, **UNTYPED}.items()}
# Python's numbers, where a dtype is wanted.
OF_PYTHON = ((bool, _C.bool), (int, _C.int64), (float, _C.float64), (complex, _C.complex128))


def as_dtype(given):
    """The dtype of one of Python's types of numbers; all else as it is."""
    return next((dtype for kind, dtype in OF_PYTHON if given is kind), given)
