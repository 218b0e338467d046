"""`.metadata`: a pickle of Metadata under torch's names, read without running code.

Note: a file may name the classes here and nothing else; what it makes of them is checked field by
field before it is used.
"""

from __future__ import annotations

import io
import pickle

import rushlight
from rushlight import _C
from rushlight._serialization import allowlist
from rushlight._serialization.pickler import make_pickler
from rushlight._serialization.unpickler import Unpickler
from rushlight.distributed.checkpoint import metadata as m
from rushlight.distributed.checkpoint.metadata import _StorageInfo

Refused = allowlist.Refused
_MODULE = "torch.distributed.checkpoint"
_NAMES = (
    "Metadata", "TensorStorageMetadata", "BytesStorageMetadata", "ChunkStorageMetadata",
    "TensorProperties", "MetadataIndex", "StorageMeta",
)  # fmt: skip
_OPTIONAL = type(None)
_FIELDS = {
    m.Metadata: {
        "state_dict_metadata": dict, "planner_data": object, "storage_data": dict,
        "storage_meta": (m.StorageMeta, _OPTIONAL), "version": (str, _OPTIONAL),
    },
    m.TensorStorageMetadata: {"properties": m.TensorProperties, "size": _C.Size, "chunks": list},
    m.BytesStorageMetadata: {},
    m.ChunkStorageMetadata: {"offsets": _C.Size, "sizes": _C.Size},
    m.MetadataIndex: {"fqn": str, "offset": (_C.Size, _OPTIONAL), "index": (int, _OPTIONAL)},
    m.StorageMeta: {
        "checkpoint_id": (str, _OPTIONAL), "save_id": (str, _OPTIONAL),
        "load_id": (str, _OPTIONAL), "modules": list,
    },
    _StorageInfo: {
        "relative_path": str, "offset": int, "length": int,
        "transform_descriptors": (list, tuple, _OPTIONAL),
    },
}  # fmt: skip


_NEEDED = {
    m.Metadata: {"state_dict_metadata", "storage_data"},
    m.TensorStorageMetadata: {"properties", "size", "chunks"},
    m.ChunkStorageMetadata: {"offsets", "sizes"},
    m.MetadataIndex: {"fqn"},
    _StorageInfo: {"relative_path", "offset", "length"},
}


def _layout(name):
    if name != "torch.strided":
        raise Refused(f"the layout {name!r:.50}: torch.strided is the only one here")
    return rushlight.strided


def _memory_format(number):
    return m._MEM_FORMAT_ENCODING(number)


def _member(kind, name):
    """Python before 3.11.4 writes a member of an enum as getattr(kind, name)."""
    members = m._MEM_FORMAT_ENCODING.__members__
    if kind is not _memory_format or type(name) is not str or name not in members:
        raise Refused("getattr was to be called of something else than the memory formats")
    return members[name]


def _path(*parts):
    if not all(type(part) is str for part in parts):
        raise Refused("a path was to be made of something else than text")
    return "/".join(parts).replace("//", "/")


class _Allowed(allowlist.Allowed):
    """The classes of torch.distributed.checkpoint, and what they hold."""

    def __init__(self):
        super().__init__()
        kinds = {f"{_MODULE}.metadata.{name}": getattr(m, name) for name in _NAMES}
        kinds[f"{_MODULE}.filesystem._StorageInfo"] = _StorageInfo
        calls = {
            "torch.serialization._get_layout": _layout,
            f"{_MODULE}.metadata._MEM_FORMAT_ENCODING": _memory_format,
            "builtins.getattr": _member,
            "__builtin__.getattr": _member,
            **{f"pathlib.{name}": _path for name in ("PosixPath", "WindowsPath", "Path")},
            **{f"pathlib._local.{name}": _path for name in ("PosixPath", "WindowsPath")},
        }
        self.things = {
            path: thing for path, thing in self.things.items()
            if isinstance(thing, _C.dtype) or path in ("torch.Size", "collections.OrderedDict")
        }  # fmt: skip
        self.things.update(kinds)
        self.things.update(calls)
        self.calls.update({id(f): f for f in calls.values()})

    def make(self, kind, arguments):
        if kind not in (*_FIELDS, m.TensorProperties) or arguments != ():
            raise Refused("a checkpoint's .metadata makes an object of another class")
        return kind.__new__(kind)

    def build(self, instance, state):
        kind = type(instance)
        if kind is m.TensorProperties:
            state = _properties(state)
        fields = _FIELDS.get(kind)
        if kind is not m.TensorProperties:
            if fields is None or type(state) is not dict or not set(state) <= set(fields):
                raise Refused(f"{kind.__name__} has other fields")
            for name, value in state.items():
                if not isinstance(value, fields[name]) or isinstance(value, bool):
                    raise Refused(f"{kind.__name__}.{name} is {type(value).__name__}")
        instance.__dict__.update(state)


def _properties(state):
    kinds = (_C.dtype, type(rushlight.strided), bool, m._MEM_FORMAT_ENCODING, bool)
    if type(state) is not tuple or len(state) != 5:
        raise Refused("TensorProperties is not five values")
    if not all(isinstance(v, k) for v, k in zip(state, kinds, strict=True)):
        raise Refused("TensorProperties holds values of other types")
    names = ("dtype", "layout", "requires_grad", "memory_format", "pin_memory")
    found = dict(zip(names, state, strict=True))
    channels_last = state[3] is m._MEM_FORMAT_ENCODING.TORCH_CHANNELS_LAST
    found["memory_format"] = (
        rushlight.channels_last if channels_last else rushlight.contiguous_format
    )
    return found


def _checked(found):
    """Every object whole, every tensor with its parts within it."""
    _whole(found, m.Metadata)
    for name, entry in found.state_dict_metadata.items():
        if type(name) is not str:
            raise Refused("a path is no text")
        if not isinstance(entry, m.TensorStorageMetadata):
            _whole(entry, m.BytesStorageMetadata)
            continue
        _whole(entry, m.TensorStorageMetadata)
        if "dtype" not in entry.properties.__dict__:
            raise Refused(f"{name} has no dtype")
        for chunk in entry.chunks:
            _whole(chunk, m.ChunkStorageMetadata)
            parts = zip(chunk.offsets, chunk.sizes, entry.size, strict=True)
            if any(o < 0 or n < 0 or o + n > size for o, n, size in parts):
                raise Refused(f"{name}: a part is not within the tensor")
    for index, info in found.storage_data.items():
        _whole(index, m.MetadataIndex)
        _whole(info, _StorageInfo)
        name = info.relative_path
        if "/" in name or "\\" in name or name in ("", ".", "..") or "\0" in name:
            raise Refused(f"{name!r:.100} is no file of the folder")
        if info.offset < 0 or info.length < 0:
            raise Refused(f"{index.fqn}: a negative offset or length")
        if getattr(info, "transform_descriptors", None):
            raise Refused(
                f"{index.fqn} is stored through {info.transform_descriptors!r:.100}, which is not "
                "in rushlight 0.1"
            )
    if not isinstance(found.planner_data, dict | _OPTIONAL):
        raise Refused("planner_data is no dict")
    return found


def _whole(thing, kind):
    if type(thing) is not kind:
        raise Refused(f"{kind.__name__} was expected, not {type(thing).__name__}")
    if not _NEEDED.get(kind, set()) <= set(thing.__dict__):
        raise Refused(f"{kind.__name__} lacks fields")


def read(path):
    """The Metadata of a file; ValueError for one that is damaged or says something else."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return _checked(Unpickler(data, allowed=_Allowed()).load())
    except (Refused, AttributeError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no metadata of a checkpoint\n{error}") from None


def data_of(found):
    """The bytes of a `.metadata` file, as torch would write them."""
    file = io.BytesIO()
    writer = make_pickler(pickle, file, 4, lambda thing: None)
    module = f"{_MODULE}.metadata"

    def save_object(self, thing, state, where=module):
        kind = type(thing)
        if (known := self.memo.get(id(kind))) is not None:
            self.write(self.get(known[0]))
        else:
            self._write_global(kind, where, kind.__name__)
        self.write(pickle.EMPTY_TUPLE + pickle.NEWOBJ)
        self.memoize(thing)
        self.save(state)
        self.write(pickle.BUILD)

    def save_properties(self, thing):
        state = (
            thing.dtype, _Call("torch.serialization", "_get_layout", ("torch.strided",)),
            thing.requires_grad, _Call(module, "_MEM_FORMAT_ENCODING", (0,)), False,
        )  # fmt: skip
        save_object(self, thing, state)

    def save_call(self, thing):
        self._write_global(thing, thing.module, thing.name)
        self.save(thing.arguments)
        self.write(pickle.REDUCE)

    table = writer.dispatch
    for kind in _FIELDS:
        where = f"{_MODULE}.filesystem" if kind is _StorageInfo else module
        table[kind] = lambda self, t, where=where: save_object(self, t, dict(t.__dict__), where)
    table[m.TensorProperties] = save_properties
    table[_Call] = save_call
    writer.dump(found)
    return file.getvalue()


class _Call:
    """A call that the file makes when it is read."""

    def __init__(self, module, name, arguments):
        self.module, self.name, self.arguments = module, name, arguments
