"""The legacy constructors FloatTensor, cuda.LongTensor and their relatives: sizes or data.

A changer must know: they are classes only so that isinstance() and type() understand them.
"""

from rushlight import _C

DTYPES = {
    "BFloat16Tensor": "bfloat16",
    "BoolTensor": "bool",
    "ByteTensor": "uint8",
    "CharTensor": "int8",
    "DoubleTensor": "float64",
    "FloatTensor": "float32",
    "HalfTensor": "float16",
    "IntTensor": "int32",
    "LongTensor": "int64",
    "ShortTensor": "int16",
}


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
        if isinstance(data, str):
            raise TypeError("new(): invalid data type 'str'")
        if not hasattr(data, "__len__"):
            raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
        return _C.tensor(data, dtype=dtype, device=device)
    size = args[0] if len(args) == 1 and isinstance(args[0], _C.Size) else args
    return _C.empty(size if args else (0,), dtype=dtype, device=device)


class _LegacyType(type):
    def __instancecheck__(cls, value):
        return (
            isinstance(value, _C.Tensor)
            and value.dtype == cls.dtype
            and value.device.type == cls.device_type
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
    dtype = getattr(_C, DTYPES[name])
    prefix = "torch.cuda." if device_type == "cuda" else "torch."
    members = {
        "dtype": dtype,
        "device_type": device_type,
        "is_cuda": device_type == "cuda",
        "_legacy_name": prefix + name,
        "__doc__": f"Makes a tensor of {DTYPES[name]} from sizes or from data.",
        "__module__": prefix.removesuffix("."),
    }
    return _LegacyType(name, (), members)
