"""The format before PyTorch 1.6: five pickles in a row, then the storages one after another.

Note: tensors are rebuilt before their bytes are read, so a storage's memory is made first and
filled at the end; its size is compared with what the file can hold before it is made.
"""

import os
import struct
import sys

from rushlight import _C
from rushlight._serialization.allowlist import Refused
from rushlight._serialization.archive import check_storage_id, memory_of, new_storage, swap_bytes
from rushlight._serialization.settings import skips_data
from rushlight._serialization.zip_reader import fill
from rushlight._utils import SparseLater, storage_was_filled
from rushlight.storage import TypedStorage, UntypedStorage

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001


def write_legacy(obj, file, pickle_module, protocol):
    """Writes ``obj`` in the old format to a file object."""
    if skips_data():
        raise RuntimeError("Cannot use skip_data=True with _use_new_zipfile_serialization=False")
    from rushlight._serialization.pickler import Storages, make_pickler

    storages = Storages(lambda storage: str(storage._cdata))

    def persistent_id(thing):
        identity = storages.persistent_id(thing)
        return None if identity is None else (*identity, None)

    system = {
        "protocol_version": PROTOCOL_VERSION,
        "little_endian": sys.byteorder == "little",
        "type_sizes": {"short": 2, "int": 4, "long": 4},
    }
    for head in (MAGIC_NUMBER, PROTOCOL_VERSION, system):
        pickle_module.dump(head, file, protocol=protocol)
    make_pickler(pickle_module, file, protocol, persistent_id).dump(obj)
    keys = sorted(storages.by_key)
    pickle_module.dump(keys, file, protocol=protocol)
    for key in keys:
        storage, dtype = storages.by_key[key]
        file.write(struct.pack("<q", storage.nbytes() // dtype.itemsize))
        file.write(memory_of(storage))


class _Storages:
    """The storages that the pickle mentions: (as restored, on the CPU) by key."""

    def __init__(self, restore, room):
        self._restore = restore
        self._room = room
        self.by_key = {}

    def persistent_load(self, identity):
        if type(identity) is tuple and len(identity) > 1 and identity[0] in ("module", b"module"):
            return identity[1]  # a class with its source text
        kind, key, location, count = check_storage_id(identity, 6)
        view = identity[5]
        if key not in self.by_key:
            dtype = _C.uint8 if kind is UntypedStorage else kind.dtype
            nbytes = count * dtype.itemsize
            self._room -= nbytes
            if self._room < 0:
                raise Refused("the file is too short for its tensors")
            content = new_storage(nbytes)
            restored = self._restore(content, location)
            self.by_key[key] = (TypedStorage(wrap_storage=restored, dtype=dtype), content)
        if view is not None:
            raise Refused("views of storages, as PyTorch 0.1 saved them, are not read")
        return self.by_key[key][0]


def read_legacy(file, map_location, next_pickle):
    """Returns the object in an old file; ``next_pickle(persistent_load)`` reads a pickle of it."""
    from rushlight._serialization.location import restorer

    magic = next_pickle(None)
    if type(magic) is not int or magic != MAGIC_NUMBER:
        raise RuntimeError(
            "Invalid magic number; corrupt file?\nthe file is none that save() has written"
        )
    version = next_pickle(None)
    if type(version) is not int or version != PROTOCOL_VERSION:
        raise RuntimeError("Invalid protocol version: the file is damaged or too new")
    system = next_pickle(None)
    little = not isinstance(system, dict) or system.get("little_endian", True) is True
    here = file.tell()
    room = file.seek(0, os.SEEK_END) - here
    file.seek(here)
    storages = _Storages(restorer(map_location), room)
    with SparseLater() as sparse:
        result = next_pickle(storages.persistent_load)
    _fill(storages, next_pickle(None), file, little)
    sparse.check()
    return result


def _fill(storages, keys, file, little):
    """Read the elements of all storages, which lie behind the pickles."""
    if type(keys) is not list or len(keys) != len(storages.by_key):
        raise Refused("the list of storages does not match the tensors")
    for key in keys:
        if type(key) is not str or key not in storages.by_key:
            raise Refused("the list of storages does not match the tensors")
        typed, content = storages.by_key.pop(key)
        itemsize = typed.dtype.itemsize
        (count,) = struct.unpack("<q", _exactly(file, 8))
        if count * itemsize != content.nbytes():
            raise Refused("a storage in the file has another size than its tensors say")
        memory = _C._storage_memory(content._bytes)
        fill(file, memory)
        if little != (sys.byteorder == "little"):
            swap_bytes(memory, itemsize)
        if typed._untyped_storage is not content and typed.device.type != "meta":
            typed._untyped_storage.copy_(content)
        if typed.device.type != "meta":
            storage_was_filled(typed)


def _exactly(file, length):
    data = file.read(length)
    if len(data) != length:
        raise Refused("the file ended early")
    return data
