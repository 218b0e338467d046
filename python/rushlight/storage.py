"""Storages: the memory behind tensors, as bytes (UntypedStorage) or as elements (TypedStorage).

Note: a storage object is a handle around a one-dimensional uint8 tensor that covers the storage
whole; handles come and go, two of the same memory have the same `_cdata`.
"""

from rushlight import _C
from rushlight._dtype_names import NAMES, UNTYPED
from rushlight._storage_content import (
    _load_from_bytes,
    bytes_of,
    content_of,
    listing,
    new_elements,
    swapped,
)
from rushlight._storage_methods import StorageMethods, _StorageBase
from rushlight._storage_types import STORAGE_TYPES

__all__ = ["TypedStorage", "UntypedStorage"]


class UntypedStorage(_StorageBase):
    """The bytes behind one or several tensors.

    Args:
        content: the number of bytes, or a sequence of byte values.
        device: where the bytes live; the CPU unless given.

    Example:
        >>> storage = torch.tensor([1, 2], dtype=torch.int16).untyped_storage()
        >>> storage.nbytes(), storage.tolist()
        (4, [1, 0, 2, 0])
    """

    __slots__ = ("__weakref__", "_filename", "_held")

    def __init__(self, content=0, *, device=None):
        where = {} if device is None else {"device": device}
        if isinstance(content, int):
            self._held = _C.zeros((content,), dtype=_C.uint8, **where)
        else:
            self._held = _C.tensor(list(content), dtype=_C.uint8, **where)

    @classmethod
    def _around(cls, content):
        """The handle around a uint8 tensor that covers its whole storage."""
        self = object.__new__(cls)
        self._held = content
        return self

    @classmethod
    def _of(cls, tensor):
        return cls._around(_C._storage_bytes(tensor))

    @property
    def _bytes(self):
        """All of the storage as it is now."""
        return _C._storage_bytes(self._held)

    def _tensor(self):
        return self._bytes

    _around_tensor = _around

    @property
    def _cdata(self):
        return _C._storage_id(self._held)

    @property
    def device(self):
        """The device that holds the bytes."""
        return self._bytes.device

    def nbytes(self):
        """Returns the number of bytes."""
        return self._bytes.numel()

    size = __len__ = nbytes

    def element_size(self):
        """Returns 1: a byte's size."""
        return 1

    @classmethod
    def from_file(cls, filename, shared=False, nbytes=0):
        """The bytes of a file, mapped: a page is read where it is looked at.

        A page that is gone because the file was truncated reads as zeros.

        Args:
            filename: its path.
            shared: whether what is written to the storage goes to the file, which is then made if
                it is not there, and grows if it is shorter.
            nbytes: how many bytes, from the file's first.

        Raises:
            RuntimeError: if the file is not there or too short.
        """
        if not isinstance(filename, str):
            raise TypeError(f"argument 1 must be str, not {type(filename).__name__}")
        if isinstance(nbytes, bool) or not isinstance(nbytes, int) or not 0 <= nbytes < 1 << 62:
            raise RuntimeError(
                f"unable to mmap {nbytes} bytes from file <{filename}>: a number of bytes is needed"
            )
        made = cls._around(_C._map_file(filename, bool(shared), nbytes)) if nbytes else cls(0)
        made._filename = filename if shared else None
        return made

    @classmethod
    def from_buffer(cls, buffer, byte_order=None, count=-1, offset=0, *, dtype=None):
        """The bytes of an object's buffer, copied.

        Args:
            buffer: bytes, or what else has a buffer.
            byte_order: of its elements: "little", "big" or "native".
            count: how many elements; -1 for all.
            offset: how many bytes to leave out.
            dtype: the type of the elements.
        """
        return cls._around(content_of(buffer, byte_order, count, offset, dtype))

    @property
    def filename(self):
        """The path of the file that from_file(shared=True) has mapped; None of other storages."""
        return getattr(self, "_filename", None)

    def __sizeof__(self):
        return object.__sizeof__(self) + self.nbytes()

    def _elements_as(self, dtype):
        """What torch.asarray and its like take it for: its memory, of int64 if no dtype is said."""
        dtype = dtype or _C.int64
        return _C._view_storage(self._bytes, dtype, 0, (self.nbytes() // dtype.itemsize,), (1,))

    def data_ptr(self):
        """Returns the address of the first byte."""
        return self._bytes.data_ptr()

    def tolist(self):
        """Returns the bytes as a list of ints."""
        self._refuse_meta()
        return self._bytes.tolist()

    def __iter__(self):
        return iter(self.tolist())

    def __getitem__(self, index):
        self._refuse_meta()
        if isinstance(index, slice):
            begin, end, step = index.indices(self.nbytes())
            # Elements of any dtype must be aligned in it.
            if step == 1 and begin % 16 == 0 and self.device.type == "cpu":
                return UntypedStorage._around(_C._storage_part(self._held, begin, max(begin, end)))
            return UntypedStorage._of(self._bytes[index].clone())
        return self._bytes[index].item()

    def __setitem__(self, index, value):
        self._bytes[index] = value

    def is_shared(self):
        """Returns what `Tensor.is_shared` says of a tensor on this storage."""
        return self._held.is_shared()

    def fill_(self, value):
        """Sets every byte to ``value``; returns itself."""
        self._bytes.fill_(value)
        return self

    def copy_(self, source, non_blocking=False):
        """Copies the bytes of `source`, a storage of the same size; returns itself. With
        `non_blocking` the host does not wait for a copy to or from a GPU.
        """
        if source.nbytes() != self.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was "
                f"{source.nbytes()} bytes"
            )
        self._bytes.copy_(source._untyped()._bytes, non_blocking)
        return self

    def resizable(self):
        """Returns whether `resize_()` may change the number of bytes."""
        return _C._is_resizable(self._held)

    def resize_(self, size):
        """Changes the number of bytes to `size` for all tensors on this storage; returns itself.

        New bytes are uninitialised. A tensor that reaches beyond a storage which became smaller
        raises where it is read, until the storage is large enough again. Memory of a GPU is freed
        at once, that of a small CPU storage with its last tensor.

        Raises:
            RuntimeError: if something else uses the memory, such as a NumPy array.

        >>> x = torch.arange(3.0)
        >>> x.untyped_storage().resize_(0).nbytes(), x.shape
        (0, torch.Size([3]))
        """
        if isinstance(size, bool) or not isinstance(size, int):
            raise RuntimeError(f"resize_ expects an int, but got {type(size).__name__}")
        _C._resize_storage(self._held, size)
        return self

    def clone(self):
        """Returns a copy on the same device."""
        return UntypedStorage._around(self._bytes.clone())

    def to(self, device, non_blocking=False):
        """Returns this storage if it is on `device`, else a copy there; with `non_blocking` the
        host does not wait for it.
        """
        content = self._bytes
        moved = content.to(device, non_blocking=non_blocking)
        return self if moved is content else UntypedStorage._around(moved)

    def cpu(self):
        """Returns this storage if it is on the CPU, else a copy there."""
        return self.to("cpu")

    def cuda(self, device=None, non_blocking=False):
        """Returns this storage if it is on the GPU `device`, else a copy there; with `non_blocking`
        the host does not wait for it.
        """
        if isinstance(device, int):
            device = f"cuda:{device}"
        return self.to("cuda" if device is None else device, non_blocking)

    def new(self):
        """Returns an empty storage on the same device."""
        return UntypedStorage(device=self.device)

    def byteswap(self, dtype):
        """Reverses the bytes of each element of `dtype` in place; of a complex one, those of its
        two parts.
        """
        if not isinstance(dtype, _C.dtype):
            raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
        memory = _C._storage_memory(self._held)
        memory[:] = swapped(bytes(memory), dtype)

    def type(self, dtype=None):
        """Returns the name of the class; `dtype` must be None."""
        if dtype is not None:
            raise TypeError("type(): bytes have no type to convert: call .float() or its like")
        return "torch.storage.UntypedStorage"

    def untyped(self):
        """Returns itself."""
        return self

    _untyped = untyped

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        return self._deepcopy(memo)

    def _deepcopy(self, memo):
        """The copy of this storage in a deepcopy that ``memo`` belongs to: one, however often."""
        copies = memo.setdefault("torch", {})
        key = self._cdata
        if key not in copies:
            copies[key] = (self.clone(), self)
        return copies[key][0]

    def __reduce__(self):
        return _seen_as, (TypedStorage(wrap_storage=self, dtype=_C.uint8), None)

    def __repr__(self):
        return listing(self, "UntypedStorage", f"device={self.device}")


class TypedStorage(StorageMethods):
    """A storage seen as elements of one dtype, kept for older programs.

    Args:
        *args: the number of elements, which are not set, or a sequence of them; none of both is 0.
        wrap_storage: the :class:`UntypedStorage` to look at instead.
        dtype: the type of the elements; the default dtype if None, but needed by wrap_storage.
        device: where new elements lie; the CPU if None.

    Raises:
        RuntimeError: arguments that do not go together.
        TypeError: arguments of another kind.

    Example:
        >>> torch.storage.TypedStorage([1, 2], dtype=torch.float32).tolist()
        [1.0, 2.0]
    """

    # Of another size than its UntypedStorage: the next handle is made where this one was, as
    # programs that compare id(x.storage()) expect.
    __slots__ = ("__weakref__", "_first_spare", "_second_spare", "_untyped_storage", "dtype")

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None, _internal=False):
        if dtype is not None and not isinstance(dtype, _C.dtype):
            raise TypeError(
                f"TypedStorage(): dtype must be torch.dtype, not {type(dtype).__name__}"
            )
        if len(args) > 1 or (wrap_storage is not None and (args or device or dtype is None)):
            raise RuntimeError(
                "TypedStorage.__init__ received an invalid combination of arguments: it takes "
                "wrap_storage and dtype alone, or a size or a sequence with dtype and device"
            )
        if wrap_storage is not None and not isinstance(wrap_storage, UntypedStorage):
            raise TypeError(
                "TypedStorage(): wrap_storage must be UntypedStorage, not "
                f"{type(wrap_storage).__name__}"
            )
        self.dtype = dtype or _C.get_default_dtype()
        if wrap_storage is None:
            wrap_storage = new_elements(args, self.dtype, device or "cpu")
        self._untyped_storage = wrap_storage

    @classmethod
    def from_buffer(cls, *args, dtype=None, **kwargs):
        """UntypedStorage.from_buffer() seen as its elements, of the default dtype if None."""
        dtype = dtype or _C.get_default_dtype()
        return cls(
            wrap_storage=UntypedStorage.from_buffer(*args, dtype=dtype, **kwargs), dtype=dtype
        )

    @classmethod
    def from_file(cls, filename, shared=False, size=0, *, dtype=None):
        """UntypedStorage.from_file() seen as elements.

        Args:
            filename, shared: as there.
            size: how many elements.
            dtype: their type; the default dtype if None.
        """
        dtype = dtype or _C.get_default_dtype()
        content = UntypedStorage.from_file(filename, shared, size * dtype.itemsize)
        return TypedStorage(wrap_storage=content, dtype=dtype)

    @property
    def filename(self):
        """The path of the file that from_file(shared=True) has mapped; None of other storages."""
        return self._untyped_storage.filename

    def _untyped(self):
        return self._untyped_storage

    def _tensor(self):
        return _C._view_storage(self._untyped_storage._bytes, self.dtype, 0, (self.size(),), (1,))

    def _elements_as(self, dtype):
        if dtype not in (None, self.dtype):
            raise RuntimeError(
                f"Expected a Storage of type {dtype} or an UntypedStorage, but got {self.dtype}"
            )
        return self._tensor()

    @property
    def device(self):
        """The device that holds the elements."""
        return self._untyped_storage.device

    @property
    def _cdata(self):
        return self._untyped_storage._cdata

    def untyped(self):
        """Returns the storage as bytes."""
        return self._untyped_storage

    def element_size(self):
        """Returns the number of bytes of an element."""
        return self.dtype.itemsize

    def nbytes(self):
        """Returns the number of bytes."""
        return self._untyped_storage.nbytes()

    def size(self):
        """Returns the number of elements."""
        return self.nbytes() // self.dtype.itemsize

    __len__ = size

    def data_ptr(self):
        """Returns the address of the first element."""
        return self._untyped_storage.data_ptr()

    def tolist(self):
        """Returns the elements as a list."""
        self._refuse_meta()
        return self._tensor().tolist()

    def __iter__(self):
        return iter(self.tolist())

    def __getitem__(self, index):
        self._refuse_meta()
        picked = self._tensor()[index]
        return picked.tolist() if isinstance(index, slice) else picked.item()

    def __setitem__(self, index, value):
        self._tensor()[index] = value

    def fill_(self, value):
        """Sets all elements to `value`; returns itself."""
        self._tensor().fill_(value)
        return self

    def copy_(self, source, non_blocking=False):
        """Copies the bytes of `source` as UntypedStorage.copy_() does, with `non_blocking` as
        there; returns itself.
        """
        self._untyped_storage.copy_(source, non_blocking)
        return self

    def type(self, dtype=None):
        """Returns the name of such storages; with `dtype`, itself or a copy of that type.

        Args:
            dtype: a name like "torch.FloatStorage", or such a class.
        """
        if dtype is None:
            place = "torch.cuda" if self.is_cuda else "torch"
            return f"{place}.{self.pickle_storage_type()}"
        name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", "")
        kind = STORAGE_TYPES.get(name.rpartition(".")[2])
        if kind is None:
            raise TypeError(f"type(): {dtype!r} is not a class of storages such as FloatStorage")
        if kind.dtype == self.dtype:
            return self
        return self._around_tensor(self._tensor().to(kind.dtype))

    def is_shared(self):
        """Returns what `Tensor.is_shared` says of a tensor on this storage."""
        return self._untyped_storage.is_shared()

    def resizable(self):
        """Returns whether `resize_()` may change the number of elements."""
        return self._untyped_storage.resizable()

    def resize_(self, size):
        """Changes the number of elements to `size`, as UntypedStorage.resize_() does; returns
        itself.
        """
        if isinstance(size, bool) or not isinstance(size, int):
            raise RuntimeError(f"resize_ expects an int, but got {type(size).__name__}")
        self._untyped_storage.resize_(size * self.dtype.itemsize)
        return self

    def _converted(self, storage):
        return TypedStorage(wrap_storage=storage, dtype=self.dtype)

    @staticmethod
    def _around_tensor(tensor):
        return tensor._typed_storage()

    def clone(self):
        """Returns a copy on the same device."""
        return self._converted(self._untyped_storage.clone())

    def cpu(self):
        """Returns the storage on the CPU."""
        return self._converted(self._untyped_storage.cpu())

    def cuda(self, device=None, non_blocking=False):
        """Returns a copy on the GPU `device`; with `non_blocking` the host does not wait for it."""
        return self._converted(self._untyped_storage.cuda(device, non_blocking))

    def to(self, *, device, non_blocking=False):
        """Returns a storage on `device`; with `non_blocking` the host does not wait for it."""
        return self._converted(self._untyped_storage.to(device, non_blocking))

    def pickle_storage_type(self):
        """Returns the name of this kind of storage in files."""
        return NAMES[self.dtype] + "Storage"

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        return self._converted(self._untyped_storage._deepcopy(memo))

    def __reduce__(self):
        if NAMES[self.dtype] not in UNTYPED:
            return _load_from_bytes, (bytes_of(self),)
        as_bytes = TypedStorage(wrap_storage=self._untyped_storage, dtype=_C.uint8)
        return _seen_as, (as_bytes, self.dtype)

    def __repr__(self):
        return listing(self, "TypedStorage", f"dtype={self.dtype}, device={self.device}")


def _seen_as(storage, dtype):
    """What a plain pickle calls of a storage that files have no class for: its bytes, or elements
    of one of the newer dtypes."""
    untyped = storage._untyped()
    return untyped if dtype is None else TypedStorage(wrap_storage=untyped, dtype=dtype)
