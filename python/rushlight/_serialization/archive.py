"""The `.pt` format: objects to an archive's records and back.

Note: a storage is read when the pickle first mentions it, straight into the memory that the tensors
will use, and only once however many tensors share it.
"""

import sys

from rushlight import _C
from rushlight._serialization.allowlist import Refused
from rushlight._serialization.settings import skips_data
from rushlight._serialization.zip_writer import ALIGNMENT, ZipWriter
from rushlight._storage_types import StorageType
from rushlight.storage import TypedStorage, UntypedStorage


def write_archive(obj, write, name, pickle_module, protocol, byteorder=True, reserve=None):
    """Writes ``obj`` as an archive called ``name`` through the callable ``write``."""
    from io import BytesIO

    from rushlight._serialization.pickler import Storages, make_pickler

    storages, text = Storages(), BytesIO()
    make_pickler(pickle_module, text, protocol, storages.persistent_id).dump(obj)
    pickled = text.getvalue()
    if reserve is not None:
        total = sum(storage.nbytes() for storage, _ in storages.by_key.values())
        reserve(total + len(pickled) + 256 * len(storages.by_key) + 2048)
    archive = ZipWriter(write, name)
    archive.record("data.pkl", pickled)
    archive.record(".format_version", b"1")
    archive.record(".storage_alignment", str(ALIGNMENT).encode())
    if byteorder:
        archive.record("byteorder", sys.byteorder.encode())
    for key, (storage, _) in storages.by_key.items():
        content = b"\0" * storage.nbytes() if skips_data() else memory_of(storage)
        archive.record(f"data/{key}", content)
    archive.close()


def memory_of(storage):
    """A memoryview of a storage's bytes; those of a GPU are copied to the CPU first."""
    content = storage._bytes
    if content.device.type == "meta":
        return b"\0" * content.numel()
    return _C._storage_memory(content.cpu())


def new_storage(nbytes, device="cpu"):
    """A storage of ``nbytes`` bytes with uninitialised memory."""
    return UntypedStorage._around(_C.empty((nbytes,), dtype=_C.uint8, device=device))


class Loader:
    """Answers the persistent ids of one archive with its storages, each made once."""

    def __init__(self, archive, restore, map_location):
        self._archive = archive
        self._restore = restore
        self._to_meta = str(map_location) == "meta"
        self._made = {}
        self._swap = False
        if "byteorder" in archive:
            order = archive.read("byteorder")
            if order not in (b"little", b"big"):
                raise ValueError(f"Unknown endianness type: {order[:40]!r}")
            self._swap = order.decode() != sys.byteorder

    def persistent_load(self, identity):
        kind, key, location, count = check_storage_id(identity, 5)
        if key in self._made:
            return self._made[key]
        dtype = _C.uint8 if kind is UntypedStorage else kind.dtype
        name, nbytes = f"data/{key}", count * dtype.itemsize
        held = self._archive.size(name)
        if nbytes > held:
            raise RuntimeError(
                f"the record {name[:80]} holds {held} bytes, but its tensors need {nbytes}\n"
                "the file is damaged or was not written by save()"
            )
        if self._to_meta:
            storage = new_storage(nbytes, "meta")
        else:
            storage = new_storage(nbytes)
            memory = _C._storage_memory(storage._bytes)
            self._archive.read_into(name, memory)
            if self._swap:
                swap_bytes(memory, dtype.itemsize)
            memory.release()
            storage = self._restore(storage, location)
        self._made[key] = TypedStorage(wrap_storage=storage, dtype=dtype)
        return self._made[key]


def check_storage_id(identity, length):
    """Returns (kind, key, location, count) of a storage's persistent id, all of the right type."""
    if type(identity) is not tuple or len(identity) != length:
        raise Refused("persistent_load id must be a tuple that describes a storage")
    tag, kind, key, location, count = identity[:5]
    if tag not in ("storage", b"storage"):
        raise Refused(f"Only persistent_load of storage is allowed, but got {type(tag)}")
    if type(location) is bytes:
        location = location.decode("ascii")
    if type(key) is not str or type(location) is not str or type(count) is not int or count < 0:
        raise Refused("a storage is described by something else than key, device and size")
    if kind is not UntypedStorage and type(kind) is not StorageType:
        raise Refused("a storage is described by something else than a storage type")
    return kind, key, location, count


def swap_bytes(memory, itemsize):
    """Turns elements written on a machine of the other byte order round, in place."""
    if itemsize == 1:
        return
    for i in range(itemsize // 2):
        j = itemsize - 1 - i
        low = bytes(memory[i::itemsize])
        memory[i::itemsize] = memory[j::itemsize]
        memory[j::itemsize] = low


def read_archive(archive, map_location, unpickle):
    """Returns the object in ``archive``; ``unpickle(data, persistent_load)`` reads its pickle."""
    from rushlight._serialization.location import restorer

    loader = Loader(archive, restorer(map_location), map_location)
    return unpickle(archive.read("data.pkl"), loader.persistent_load)
