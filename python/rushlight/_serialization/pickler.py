"""Pickles objects under PyTorch's names and passes storages to a `store` function.

Note: this is the standard library's Python pickler, because the C one insists on importing a class
under the name that it writes, and "torch.nn..." need not be importable here.
"""

import copyreg
import pickle
import struct
import types
from collections import OrderedDict

from rushlight import _C
from rushlight._serialization.location import location_tag
from rushlight._serialization.names import find, torch_module
from rushlight._storage_types import StorageType, storage_type_of
from rushlight._utils import _rebuild_tensor_v2
from rushlight.storage import TypedStorage, UntypedStorage

_PLAIN = {int, float, bool, type(None)}


class _Names:
    """Writes classes and functions of this package under PyTorch's module paths."""

    def save_global(self, thing, name=None):
        if isinstance(thing, _C.dtype):
            self._write_global(thing, "torch", str(thing).rpartition(".")[2])
            return
        module = getattr(thing, "__module__", None)
        theirs = torch_module(module) if isinstance(module, str) else None
        if theirs is None:
            super().save_global(thing, name)
            return
        name = name or getattr(thing, "__qualname__", None) or thing.__name__
        try:
            found = find(theirs, name)
        except AttributeError:
            found = None
        if found is not thing:
            raise pickle.PicklingError(f"Can't pickle {thing!r}: it's not found as {module}.{name}")
        self._write_global(thing, theirs, name)

    def _write_global(self, thing, module, name):
        if self.proto >= 4:
            self.save(module)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        elif "." in name:
            parent, _, last = name.rpartition(".")
            self.save_reduce(getattr, (find(module, parent), last))
        else:
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(thing)

    def _save_storage_type(self, kind):
        self._write_global(kind, "torch", kind.name)

    def _save_size(self, size):
        self.save_reduce(_C.Size, (tuple(size),), obj=size)

    def _save_device(self, device):
        arguments = (device.type,) if device.index is None else (device.type, device.index)
        self.save_reduce(_C.device, arguments, obj=device)


_TUPLES = (b")", b"\x85", b"\x86", b"\x87")  # of up to three items
_FLAGS = (b"\x89", b"\x88")


class _Words:
    """Opcodes of protocol 2 for one tensor, collected and then written at once."""

    def __init__(self, memo):
        self._memo = memo
        self.written = bytearray(b"(")

    def number(self, n):
        if 0 <= n <= 0xFF:
            self.written += b"K%c" % n
        elif 0 <= n <= 0xFFFF:
            self.written += struct.pack("<cH", b"M", n)
        elif n <= 0x7FFFFFFF:
            self.written += struct.pack("<ci", b"J", n)
        else:
            self.written += pickle.dumps(n, 2)[2:-1]

    def put(self, thing):
        index = len(self._memo)
        self._memo[id(thing)] = index, thing
        self.written += b"q%c" % index if index < 256 else struct.pack("<cI", b"r", index)

    def get(self, thing):
        index = self._memo[id(thing)][0]
        self.written += b"h%c" % index if index < 256 else struct.pack("<cI", b"j", index)

    def text(self, text):
        if id(text) in self._memo:
            self.get(text)
            return
        encoded = text.encode()
        self.written += struct.pack("<cI", b"X", len(encoded)) + encoded
        self.put(text)

    def numbers(self, values):
        if len(values) > 3:
            self.written += b"("
        for value in values:
            self.number(value)
        self.written += _TUPLES[len(values)] if len(values) < 4 else b"t"
        if values:
            self.put(values)


def _save_tensor(self, tensor):
    """A tensor without attributes: the bytes of the general way, which would save 22 parts."""
    function, arguments, *more = tensor.__reduce_ex__(self.proto)
    known = function is _rebuild_tensor_v2 and type(tensor) not in copyreg.dispatch_table
    identity = self.persistent_id(arguments[0]) if known and self.proto == 2 else None
    if identity is None or len(identity) != 5:  # the format before zip has more to say
        self.save_reduce(function, arguments, *more, obj=tensor)
        return
    _, offset, size, stride, requires_grad, hooks = arguments
    tag, kind, key, location, count = identity
    self.save(function)
    words = _Words(self.memo)
    words.written += b"("
    words.text(tag)
    if id(kind) not in self.memo:
        self.write(words.written)
        self.save(kind)
        words.written = bytearray()
    else:
        words.get(kind)
    words.text(key)
    words.text(location)
    words.number(count)
    words.written += b"t"
    words.put(identity)
    words.written += b"Q"
    words.number(offset)
    words.numbers(size)
    words.numbers(stride)
    words.written += _FLAGS[requires_grad]
    if id(OrderedDict) not in self.memo:
        self.write(words.written)
        self.save(OrderedDict)
        words.written = bytearray()
    else:
        words.get(OrderedDict)
    words.written += b")R"
    words.put(hooks)
    words.written += b"t"
    words.put(arguments)
    words.written += b"R"
    self.write(words.written)
    self.memo[id(tensor)] = len(self.memo), tensor
    self.write(self.put(self.memo[id(tensor)][0]))


def _batch_appends(self, items, *rest):
    """Long lists of ints and floats go through the C pickler: they need no memo."""
    items = list(items)
    if self.proto < 2 or len(items) < 100 or not set(map(type, items)) <= _PLAIN:
        pickle._Pickler._batch_appends(self, items, *rest)
        return
    for i in range(0, len(items), 1000):
        if self.framer.current_frame:
            self.framer.commit_frame()
        text = pickle.dumps(items[i : i + 1000], 2)
        self.write(text[5:-1])  # without PROTO, EMPTY_LIST, its BINPUT and STOP


def make_pickler(module, file, protocol, persistent_id):
    """A pickler of the pickle module ``module`` that writes to ``file`` under PyTorch's names."""
    base = pickle._Pickler if module is pickle else module.Pickler
    bases = (_Names, base) if issubclass(base, pickle._Pickler) else (base,)
    members = {"persistent_id": staticmethod(persistent_id)}
    if issubclass(base, pickle._Pickler):
        table = dict(base.dispatch)
        table[types.FunctionType] = _Names.save_global
        table[StorageType] = _Names._save_storage_type
        table[_C.dtype] = _Names.save_global
        table[_C.Size] = _Names._save_size
        table[_C.device] = _Names._save_device
        members["dispatch"] = table
        if base is pickle._Pickler:
            members["_batch_appends"] = _batch_appends
            table[_C.Tensor] = _save_tensor
    return type("TensorPickler", bases, members)(file, protocol=protocol)


class Storages:
    """Numbers the storages of one file and describes each as a persistent id."""

    def __init__(self, key_of=None):
        self.by_key = {}
        self._dtypes = {}
        self._keys = {}
        self._key_of = key_of or (lambda storage: str(len(self._keys)))

    def persistent_id(self, thing):  # asked of every object
        _C._check_stack()
        if type(thing) is TypedStorage:
            storage, dtype, kind = thing._untyped_storage, thing.dtype, storage_type_of(thing.dtype)
        elif type(thing) is UntypedStorage:
            storage, dtype, kind = thing, _C.uint8, UntypedStorage
        else:
            return None
        identity = storage._cdata
        if storage.nbytes() and self._dtypes.setdefault(identity, dtype) is not dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different "
                f"types\none reads it as {self._dtypes[identity]}, another as {dtype}; save a "
                "clone() of one of them"
            )
        if identity not in self._keys:
            self._keys[identity] = self._key_of(storage)
            self.by_key[self._keys[identity]] = (storage, dtype)
        size = storage.nbytes() // dtype.itemsize
        return "storage", kind, self._keys[identity], location_tag(storage), size
