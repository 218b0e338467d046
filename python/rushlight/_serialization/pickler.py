"""Pickles objects under PyTorch's names and hands storages out to a `store` function.

A changer must know: this is the standard library's Python pickler, because the C one insists on
importing a class under the name that it writes, and "torch.nn..." need not be importable here.
"""

import pickle
import types

from rushlight import _C
from rushlight._serialization.names import find, torch_module
from rushlight.storage import StorageType, TypedStorage, UntypedStorage, storage_type_of

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
        place = (device.type,) if device.index is None else (device.type, device.index)
        self.save_reduce(_C.device, place, obj=device)


def _batch_appends(self, items, *rest):
    """Long stretches of numbers go through the C pickler: numbers need no memo."""
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
    return type("TensorPickler", bases, members)(file, protocol=protocol)


class Storages:
    """Numbers the storages of one file and describes each as a persistent id."""

    def __init__(self, key_of=None):
        self.by_key = {}
        self._dtypes = {}
        self._keys = {}
        self._key_of = key_of or (lambda storage: str(len(self._keys)))

    def persistent_id(self, thing):
        if type(thing) is TypedStorage:
            storage, dtype, kind = thing._untyped_storage, thing.dtype, storage_type_of(thing.dtype)
        elif type(thing) is UntypedStorage:
            storage, dtype, kind = thing, _C.uint8, UntypedStorage
        else:
            return None
        from rushlight._serialization.location import location_tag

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
