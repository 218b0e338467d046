"""The rarer functions of the top level, which only arrange what C++ computes."""

from __future__ import annotations

from rushlight import _C
from rushlight._table import op

__all__ = [
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "is_storage",
    "is_tensor",
    "set_default_device",
    "set_default_dtype",
    "set_default_tensor_type",
    "set_float32_matmul_precision",
    "set_num_interop_threads",
    "typename",
]

_LEGACY = {
    "Float": _C.float32,
    "Double": _C.float64,
    "Half": _C.float16,
    "BFloat16": _C.bfloat16,
    "Long": _C.int64,
    "Int": _C.int32,
    "Short": _C.int16,
    "Char": _C.int8,
    "Byte": _C.uint8,
    "Bool": _C.bool,
}
_NAMES = {dtype: name for name, dtype in _LEGACY.items()}


def _tensor_type(tensor, dtype):
    """Tensor.type(): the legacy name, or a cast to what a dtype or such a name says."""
    if dtype is None:
        prefix = "torch.cuda." if tensor.is_cuda else "torch."
        return f"{prefix}{_NAMES[tensor.dtype]}Tensor"
    if not isinstance(dtype, str):
        legacy = getattr(dtype, "_legacy_name", None)
        if legacy is None:
            return tensor.to(dtype)
        dtype = legacy
    name = dtype.removeprefix("torch.")
    device = "cuda" if name.startswith("cuda.") else "cpu"
    kind = name.removeprefix("cuda.").removesuffix("Tensor")
    if kind not in _LEGACY or not name.endswith("Tensor"):
        raise ValueError(f"invalid type: '{dtype}'")
    if device == "cuda" and tensor.is_cuda:
        device = tensor.device
    return tensor.to(device, _LEGACY[kind])


@op("torch")
def is_tensor(obj):
    """Whether `obj` is a tensor.

    >>> torch.is_tensor(torch.ones(1))
    True
    """
    return isinstance(obj, _C.Tensor)


@op("torch")
def is_storage(obj):
    """Whether `obj` is a storage.

    >>> torch.is_storage(torch.ones(2).untyped_storage())
    True
    """
    from rushlight.storage import TypedStorage, UntypedStorage

    return isinstance(obj, TypedStorage | UntypedStorage)


@op("torch")
def set_default_device(device):
    """Sets where new tensors are made if no device is named; None is the CPU.

    Args:
        device: a device, its name or index.

    >>> torch.set_default_device("cpu")
    """
    _C._set_default_device("cpu" if device is None else device)


@op("torch")
def set_default_dtype(d):
    """Sets the dtype of new floating-point tensors.

    Args:
        d: a floating-point dtype.

    >>> torch.set_default_dtype(torch.float32)
    """
    _C._set_default_dtype(d)


@op("torch")
def set_default_tensor_type(t):
    """Sets the dtype of new floating-point tensors by a legacy type or its name.

    Args:
        t: torch.FloatTensor, torch.DoubleTensor, ... or such a name.

    >>> torch.set_default_tensor_type(torch.FloatTensor)
    """
    name = t if isinstance(t, str) else getattr(t, "_legacy_name", str(t))
    kind = name.removeprefix("torch.").removesuffix("Tensor")
    if kind not in _LEGACY:
        raise TypeError(f"invalid type object: {name}; only CPU types can be the default here")
    _C._set_default_dtype(_LEGACY[kind])


@op("torch")
def typename(obj):
    """The name of an object's type, with its module.

    >>> torch.typename(torch.ones(2))
    'torch.FloatTensor'
    """
    if isinstance(obj, _C.Tensor):
        return obj.type()
    kind = type(obj)
    return (
        kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    )


_reduced_precision = "high"  # what was asked for when products were last made less exact


@op("torch")
def set_float32_matmul_precision(precision):
    """How exact float32 products are: with "highest" to float32, on every device; with "high" and
    "medium" a real GPU may round their operands to TF32, as with
    `torch.backends.cuda.matmul.allow_tf32`.

    >>> torch.set_float32_matmul_precision("highest")
    """
    global _reduced_precision
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"Invalid float32_matmul_precision: {precision}")
    if precision != "highest":
        _reduced_precision = precision
    _C._set_switch("tf32_products", precision != "highest")


@op("torch")
def get_float32_matmul_precision():
    """How exact float32 products are.

    >>> torch.get_float32_matmul_precision()
    'highest'
    """
    return _reduced_precision if _C._get_switch("tf32_products") else "highest"


@op("torch")
def get_num_interop_threads():
    """The number of threads for independent work: 1.

    >>> torch.get_num_interop_threads()
    1
    """
    return 1


@op("torch")
def set_num_interop_threads(n):
    """Accepted: there is one thread for independent work.

    >>> torch.set_num_interop_threads(1)
    """
