"""torch.FloatStorage and its relatives: makers of a TypedStorage of one dtype, and tests for it."""

from rushlight._dtype_names import COMPLEX, DTYPES
from rushlight.storage import TypedStorage

_NAMES = (
    "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double", "Bool",
    "ComplexFloat", "ComplexDouble",
)  # fmt: skip
_DOC = """Makes a TypedStorage of one dtype, of which isinstance() tells whether it is one.

Args:
    wrap_storage: an UntypedStorage to see as such elements; else a number or a list of elements is
        the only argument.

Shape: n, or the length of the list.

>>> torch.{name}Storage([1, 0]).size()
2
"""


class _OfOneDtype(type):
    def __instancecheck__(cls, instance):
        return type(instance) is TypedStorage and instance.dtype == getattr(cls, "dtype", None)


class _StorageClass(TypedStorage, metaclass=_OfOneDtype):
    def __new__(cls, *args, wrap_storage=None, **options):
        if options or len(args) > 1 or (args and wrap_storage is not None):
            raise RuntimeError(
                f"{cls}.__new__ received an invalid combination of arguments. Expected one of:\n"
                " * (int size)\n * (Sequence data)\n * (*, UntypedStorage wrap_storage)\n"
                f"got {len(args)} positional arguments and {sorted(options)}"
            )
        return TypedStorage(*args, wrap_storage=wrap_storage, dtype=cls.dtype)

    @classmethod
    def from_buffer(cls, *args, **kwargs):
        """A copy of the bytes of a buffer, as elements of this dtype."""
        return TypedStorage.from_buffer(*args, dtype=cls.dtype, **kwargs)

    @classmethod
    def from_file(cls, filename, shared=False, size=0):
        """The elements of a file, mapped, as UntypedStorage.from_file() does."""
        return TypedStorage.from_file(filename, shared, size, dtype=cls.dtype)


for _name in _NAMES:
    globals()[f"{_name}Storage"] = _OfOneDtype(
        f"{_name}Storage",
        (_StorageClass,),
        {
            "dtype": {**DTYPES, **COMPLEX}[_name],
            "__module__": "rushlight",
            "__doc__": _DOC.format(name=_name),
        },
    )
