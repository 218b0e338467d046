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
NAMES = {dtype: name for name, dtype in DTYPES.items()}
