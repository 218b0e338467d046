"""What a storage is made of: a number, a list, or another object's buffer; and how it is shown."""

import functools
import io
import pickle
import re
import struct
import sys
from collections.abc import Sequence

from rushlight import _C

_ORDERS = {"native": sys.byteorder, "little": "little", "big": "big"}


def swapped(data, dtype):
    """The bytes of each number in the opposite order; a complex one is two."""
    width = dtype.itemsize // (2 if dtype.is_complex else 1)
    out = bytearray(len(data))
    for i in range(width):
        out[i::width] = data[width - 1 - i :: width]
    return out


def content_of(buffer, byte_order=None, count=-1, offset=0, dtype=None):
    """A uint8 tensor of its own that holds `count` elements of the buffer, or all."""
    if dtype is None or not isinstance(dtype, _C.dtype):
        raise TypeError(
            "from_buffer(): argument 'dtype' must be torch.dtype, not " + type(dtype).__name__
        )
    width = dtype.itemsize
    if byte_order is None:
        if dtype not in (_C.uint8, _C.int8):
            raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
        byte_order = "native"
    if byte_order not in _ORDERS:
        raise ValueError(
            f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')"
        )
    data = memoryview(buffer).cast("B")
    size = len(data)
    if not 0 <= offset <= size:
        raise ValueError(
            f"offset must be non-negative and no greater than buffer length ({offset}) , but got "
            f"{size}"
        )
    if count < 0:
        if (size - offset) % width:
            raise ValueError(f"buffer size ({size}) must be a multiple of element size ({width})")
        count = (size - offset) // width
    elif count > (size - offset) // width:
        raise ValueError(
            f"buffer has only {size - offset} elements after offset {offset}, but specified a "
            f"size of {count}"
        )
    data = data[offset : offset + count * width]
    if dtype is _C.bool:
        data = bytes(map(bool, data))
    elif _ORDERS[byte_order] != sys.byteorder:
        data = swapped(data, dtype)
    content = _C.empty((len(data),), dtype=_C.uint8, device="cpu")
    if data:
        _C._storage_memory(content)[:] = data
    return content


def new_elements(args, dtype, device):
    content = args[0] if args else 0
    if isinstance(content, int) and not isinstance(content, bool):
        return _C.empty((content,), dtype=dtype, device=device).untyped_storage()
    if not isinstance(content, Sequence) or isinstance(content, str | bytes):
        raise TypeError(
            f"Argument type not recognized: {type(content).__name__}; "
            "TypedStorage() takes a number of elements, or a list of them"
        )
    return _C.tensor(content, dtype=dtype, device=device).untyped_storage()


def listing(storage, name, detail):
    if storage.device.type == "meta":
        return f"...\n[torch.storage.{name}({detail}) of size {len(storage)}]"
    values = storage.tolist()
    shown = values if len(values) <= 1000 else [*values[:500], "...", *values[-500:]]
    lines = "".join(f" {value}\n" for value in shown)
    return f"{lines}[torch.storage.{name}({detail}) of size {len(values)}]"


@functools.cache
def _head():
    """The three pickles at the beginning of every file in the old format."""
    import rushlight

    file = io.BytesIO()
    rushlight.save(None, file, _use_new_zipfile_serialization=False)
    return file.getvalue().partition(b"\x80\x02N.")[0]


def _text(text):
    encoded = text.encode()
    return struct.pack("<cI", b"X", len(encoded)) + encoded


def bytes_of(storage):
    """The file that a plain pickle has in place of a typed storage: what `save` would write in the
    old format, which takes eight pickles, put together here in a tenth of their time."""
    import rushlight

    untyped = storage._untyped_storage
    place = rushlight.serialization.location_tag(untyped)
    content = untyped._bytes if place != "meta" else _C.zeros((untyped.nbytes(),), dtype=_C.uint8)
    key, count = _text(str(untyped._cdata)), len(storage)
    return b"".join(
        (
            _head(),
            b"\x80\x02(X\x07\0\0\0storage",
            f"ctorch\n{storage.pickle_storage_type()}\n".encode() + key,
            _text(place) + pickle.dumps(count, 2)[2:-1] + b"NtQ.",
            b"\x80\x02]" + key + b"a.",
            struct.pack("<q", count),
            _C._storage_memory(content.cpu()),
        )
    )


@functools.cache
def _usual_file():
    """How such a file begins where the storage was on the CPU, as torch writes it and as we do."""
    memo, count = rb"(?:q.)?", rb"(?:K(?P<K>.)|M(?P<M>..)|J(?P<J>....))"
    return re.compile(
        re.escape(_head())
        + rb"\x80\x02\(X\x07\0\0\0storage" + memo + rb"ctorch\n(?P<kind>\w{1,40})\n" + memo
        + rb"X.\0\0\0(?P<key>\d{1,20})" + memo + rb"X\x03\0\0\0cpu" + memo
        + count + rb"Nt" + memo + rb"Q\."
        + rb"\x80\x02\]" + memo + rb"X.\0\0\0(?P=key)" + memo + rb"a\.(?P<size>.{8})",
        re.DOTALL,
    )  # fmt: skip


def _load_from_bytes(b):
    """What plain pickles call in place of a storage: `b` is a file with it alone."""
    import rushlight
    from rushlight._storage_types import STORAGE_TYPES

    usual = _usual_file().match(b) if type(b) is bytes else None
    kind = usual and STORAGE_TYPES.get(usual["kind"].decode("latin1"))
    if kind is not None:
        content = memoryview(b)[usual.end() :]
        count = int.from_bytes(usual["K"] or usual["M"] or usual["J"], "little")
        same = count == int.from_bytes(usual["size"], "little")
        if same and count * kind.dtype.itemsize == len(content):
            held = _C.empty((len(content),), dtype=_C.uint8, device="cpu")
            _C._storage_memory(held)[:] = content
            classes = rushlight.storage
            held = classes.UntypedStorage._around(held)
            return classes.TypedStorage(wrap_storage=held, dtype=kind.dtype)
    return rushlight.load(io.BytesIO(b), weights_only=True)


_load_from_bytes.__module__ = "rushlight.storage"  # where pickles name it
