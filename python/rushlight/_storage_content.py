"""What a storage is made of: a number, a list, or another object's buffer; and how it is shown."""

import io
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


def _load_from_bytes(b):
    """What a plain pickle that torch has written calls: `b` is a file with a storage."""
    import rushlight

    return rushlight.load(io.BytesIO(b), weights_only=True)
