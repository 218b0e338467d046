"""What storages of bytes and of elements have alike: casts to elements of a dtype, their device,
and their type's name. Kept for older programs.
"""

from rushlight import _C

CASTS = {
    "bfloat16": _C.bfloat16, "bool": _C.bool, "byte": _C.uint8, "char": _C.int8,
    "complex_double": _C.complex128, "complex_float": _C.complex64, "double": _C.float64,
    "float": _C.float32, "float8_e4m3fn": _C.float8_e4m3fn,
    "float8_e4m3fnuz": _C.float8_e4m3fnuz, "float8_e5m2": _C.float8_e5m2,
    "float8_e5m2fnuz": _C.float8_e5m2fnuz, "half": _C.float16, "int": _C.int32, "long": _C.int64,
    "short": _C.int16,
}  # fmt: skip


class StorageMethods:
    """The methods of both classes; they have `_tensor()`, `_around_tensor()` and `device`."""

    __slots__ = ()
    is_sparse = is_hpu = False

    def _refuse_meta(self):
        if self.device.type == "meta":
            raise NotImplementedError("Not available for 'meta' device type")

    @property
    def is_cuda(self):
        """True on a GPU."""
        return self.device.type == "cuda"

    def get_device(self):
        """Returns the number of the GPU that holds it; None on the CPU."""
        return self.device.index

    def is_pinned(self, device="cuda"):
        """Returns whether the memory is pinned for `device`."""
        return self._tensor().is_pinned(device)

    def pin_memory(self, device="cuda"):
        """Returns a copy in memory pinned for `device`; itself if it is there.

        Raises:
            TypeError: if it is not on the CPU.
        """
        if self.device.type != "cpu":
            raise TypeError(
                f"cannot pin '{self.type()}' only CPU memory can be pinned: it is on {self.device}"
            )
        pinned = self._tensor().pin_memory(device)
        return self if pinned.data_ptr() == self.data_ptr() else self._around_tensor(pinned)


class _StorageBase(StorageMethods):
    """What a storage's class is derived from, for isinstance()."""

    __slots__ = ()


def _cast_to(name, dtype):
    def cast(self):
        return self._tensor().to(dtype, copy=True)._typed_storage()

    cast.__name__ = name
    cast.__qualname__ = f"StorageMethods.{name}"
    cast.__doc__ = f"Returns a TypedStorage with the values as {dtype}."
    return cast


for _name, _dtype in CASTS.items():
    setattr(StorageMethods, _name, _cast_to(_name, _dtype))
