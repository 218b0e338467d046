"""Types of tensors: FloatTensor, cuda.LongTensor and their relatives, Tensor.type(), is_tensor().

Note: the types are classes only so that isinstance() and type() understand them; a call makes a
tensor from sizes or data.
"""

from __future__ import annotations

from rushlight import _C
from rushlight._dtype_names import DTYPES, NAMES
from rushlight._table import op
from rushlight._warn_once import warn_once

__all__ = ["is_tensor", "set_default_tensor_type", "typename"]

_default_on_gpu = False  # by set_default_tensor_type()


def construct(args, dtype, device, name):
    """What the constructor called `name` makes of sizes, or of data."""
    if len(args) == 1 and not isinstance(args[0], int | _C.Size):
        data = args[0]
        if isinstance(data, _C.Tensor):
            if data.dtype != dtype:
                raise TypeError(
                    f"expected {name} (got {data.type()})\n"
                    "cast it: x.to(dtype), or x.float(), x.long() and so on"
                )
            return data.detach()
        if hasattr(data, "_elements_as"):  # a storage, which the tensor then shows
            return data._elements_as(dtype)
        if isinstance(data, str):
            raise TypeError("new(): invalid data type 'str'")
        if not hasattr(data, "__len__"):
            raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
        return _C.tensor(data, dtype=dtype, device=device)
    size = args[0] if len(args) == 1 and isinstance(args[0], _C.Size) else args
    return _C.empty(size if args else (0,), dtype=dtype, device=device)


class _LegacyType(type):
    def __new__(metaclass, name, bases, members):
        if bases:
            raise TypeError(f"type '{bases[0]._legacy_name}' is not an acceptable base type")
        return super().__new__(metaclass, name, bases, members)

    def __instancecheck__(cls, value):
        return (
            isinstance(value, _C.Tensor)
            and value.dtype == cls.dtype
            and value.device.type == cls.device_type
            and value.layout is _C.strided
        )

    def __call__(cls, *args, device=None):
        given = _C.device(cls.device_type if device is None else device)
        if given.type != cls.device_type:
            raise RuntimeError(
                f"legacy constructor expects device type: {cls.device_type} but device type: "
                f"{given.type} was passed"
            )
        return construct(args, cls.dtype, given, cls._legacy_name)

    def __repr__(cls):
        return f"<class '{cls._legacy_name}'>"


def make_type(name, device_type="cpu"):
    """The class torch.<name>, or torch.cuda.<name>: calling it makes a tensor."""
    dtype = DTYPES[name.removesuffix("Tensor")]
    prefix = "torch.cuda." if device_type == "cuda" else "torch."
    members = {
        "dtype": dtype,
        "device_type": device_type,
        "is_cuda": device_type == "cuda",
        "_legacy_name": prefix + name,
        "__doc__": f"Makes a tensor of {dtype} from sizes or from data.",
        "__module__": prefix.removesuffix("."),
    }
    return _LegacyType(name, (), members)


def tensor_type(tensor, dtype, non_blocking):
    """Tensor.type(): the legacy name, or a cast to a dtype, given as such or by such a name."""
    if dtype is None:
        prefix = "torch.cuda." if tensor.is_cuda else "torch."
        return f"{prefix}{NAMES[tensor.dtype]}Tensor"
    if not isinstance(dtype, str):
        legacy = getattr(dtype, "_legacy_name", None)
        if dtype is _C.Tensor:  # the type of new tensors
            return tensor.to(
                "cuda" if _default_on_gpu else "cpu", _C.get_default_dtype(), non_blocking
            )
        if legacy is None:
            return tensor.to(dtype, non_blocking)
        dtype = legacy
    name = dtype.removeprefix("torch.")
    device = "cuda" if name.startswith("cuda.") else "cpu"
    kind = name.removeprefix("cuda.").removesuffix("Tensor")
    if kind not in DTYPES or not name.endswith("Tensor"):
        raise ValueError(f"invalid type: '{dtype}'")
    if device == "cuda" and tensor.is_cuda:
        device = tensor.device
    return tensor.to(device, DTYPES[kind], non_blocking)


def is_tensor(obj):
    """Whether `obj` is a tensor.

    Args:
        obj: any object.

    >>> torch.is_tensor(torch.ones(1))
    True
    """
    return isinstance(obj, _C.Tensor)


@op("torch")
def set_default_tensor_type(t):
    """Sets the dtype of new floating-point tensors by a legacy type or its name.

    Args:
        t: torch.FloatTensor, torch.cuda.HalfTensor, ... or such a name; of a GPU, new tensors
            are there.

    >>> torch.set_default_tensor_type(torch.FloatTensor)
    """
    warn_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives."
    )
    name = t if isinstance(t, str) else getattr(t, "_legacy_name", str(t))
    kind = name.removeprefix("torch.").removesuffix("Tensor")
    device = "cuda" if kind.startswith("cuda.") else None
    kind = kind.removeprefix("cuda.")
    if kind not in DTYPES:
        raise TypeError(f"invalid type object: {name}; it is not the type of any tensor")
    from rushlight._defaults import set_default_device

    if device and not _C._cuda.device_count():
        raise TypeError(f"type {name} not available. There is no GPU.")
    global _default_on_gpu
    _C._set_default_dtype(DTYPES[kind])
    if device or _default_on_gpu:
        set_default_device(device)
    _default_on_gpu = device is not None


@op("torch")
def typename(obj):
    """The name of an object's type, with its module.

    Args:
        obj: any object.

    >>> torch.typename(torch.ones(2))
    'torch.FloatTensor'
    """
    if isinstance(obj, _C.Tensor):
        return obj.type()
    kind = obj if hasattr(obj, "__qualname__") and hasattr(obj, "__module__") else type(obj)
    return (
        kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    )
