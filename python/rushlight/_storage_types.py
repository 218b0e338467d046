"""Storage classes as files name them."""

from rushlight._dtype_names import COMPLEX, DTYPES, NAMES


class StorageType:
    """A storage class as files name it: "FloatStorage" and its dtype. One object for each dtype."""

    __slots__ = ("dtype", "name")

    def __init__(self, name, dtype):
        self.name = name
        self.dtype = dtype

    def __repr__(self):
        return f"StorageType(dtype={self.dtype})"


STORAGE_TYPES = {
    f"{name}Storage": StorageType(f"{name}Storage", dtype)
    for name, dtype in {**DTYPES, **COMPLEX}.items()
}


def storage_type_of(dtype):
    """The :class:`StorageType` of a dtype."""
    return STORAGE_TYPES[NAMES[dtype] + "Storage"]
