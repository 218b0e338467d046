"""Messages between the loader and a worker: frames on a socket, large bytes beside it.

A batch is pickled with its buffers (tensors, NumPy arrays) apart. Small ones travel in the frame;
large ones go into a slot, an anonymous file of the worker's whose descriptor is sent once and
which is used again as soon as the loader has read it: no names to leak, no mapped memory to fault.
"""

import io
import os
import pickle
import socket
import struct
import tempfile

import rushlight
from rushlight import _C

_length = struct.Struct("!Q")
kInlineBytes = 16384  # below it a pass through the socket beats two calls on a slot
kAlignment = 64


def frame(payload):
    """`payload` (bytes) with its length before it."""
    return _length.pack(len(payload)) + payload


class FrameReader:
    """Cuts a stream of bytes into frames, however the bytes arrive."""

    def __init__(self):
        self._bytes = bytearray()

    def feed(self, data):
        """Add received bytes; the complete frames, in order."""
        self._bytes += data
        frames, start = [], 0
        while len(self._bytes) - start >= _length.size:
            (size,) = _length.unpack_from(self._bytes, start)
            end = start + _length.size + size
            if len(self._bytes) < end:
                break
            frames.append(bytes(self._bytes[start + _length.size : end]))
            start = end
        del self._bytes[:start]
        return frames


def _bytes_of(tensor):
    tensor = tensor.detach().contiguous()
    begin = tensor.storage_offset() * tensor.element_size()
    return _C._storage_memory(tensor)[begin : begin + tensor.numel() * tensor.element_size()]


def _empty(sizes, dtype, requires_grad):
    return rushlight.empty(sizes, dtype=dtype, requires_grad=requires_grad)


def _arrived(buffer, dtype, sizes, requires_grad):
    strides = [1] * len(sizes)
    for i in range(len(sizes) - 1, 0, -1):
        strides[i - 1] = strides[i] * sizes[i]
    tensor = _C._view_storage(buffer, dtype, 0, sizes, strides)
    return tensor.requires_grad_() if requires_grad else tensor


class _Pickler(pickle.Pickler):
    """Puts a tensor's bytes out of band. `marks` says which of the buffers are tensors."""

    def __init__(self, file):
        self.buffers, self.marks = [], []
        self._tensor_buffers = set()
        super().__init__(file, 5, buffer_callback=self._keep)

    def _keep(self, buffer):
        self.buffers.append(buffer.raw())
        self.marks.append(id(buffer) in self._tensor_buffers)
        self._tensor_buffers.discard(id(buffer))  # the next object may live at this address

    def reducer_override(self, obj):
        if type(obj) is not rushlight.Tensor:
            return NotImplemented
        if obj.requires_grad and not obj.is_leaf:
            raise RuntimeError(
                "Cowardly refusing to serialize non-leaf tensor which requires_grad, "
                "since autograd does not support crossing process boundaries.  "
                "If you just want to transfer the data, call detach() on the tensor "
                "before serializing (e.g., putting it on the queue)."
            )
        if obj.device.type != "cpu":
            raise RuntimeError(
                f"a DataLoader worker cannot send a tensor that is on {obj.device}\n"
                "Return CPU tensors from the data set and move each batch in the training loop."
            )
        if not obj.numel():
            return _empty, (tuple(obj.shape), obj.dtype, obj.requires_grad)
        buffer = pickle.PickleBuffer(_bytes_of(obj))
        self._tensor_buffers.add(id(buffer))
        return _arrived, (buffer, obj.dtype, tuple(obj.shape), obj.requires_grad)


class Sender:
    """The worker's side: sends objects, keeps the slots."""

    def __init__(self, sock):
        self._socket = sock
        self._slots = []  # descriptor of each slot
        self._free = []

    def release(self, slots):
        """The loader has read these slots."""
        self._free += slots

    def send(self, key, obj):
        """Send `obj` under `key`; an error while pickling leaves the stream as it was."""
        body = io.BytesIO()
        pickler = _Pickler(body)
        pickler.dump(obj)
        chunks = [body.getbuffer(), *pickler.buffers]
        marks = [False, *pickler.marks]
        sizes = [chunk.nbytes for chunk in chunks]
        if sum(sizes) <= kInlineBytes:
            head = (key, None, marks, [bytes(chunk) for chunk in chunks])
            self._socket.sendall(frame(pickle.dumps(head, 5)))
            return
        is_new = not self._free
        slot = len(self._slots) if is_new else self._free[-1]
        descriptor = _anonymous_file() if is_new else self._slots[slot]
        try:
            _write(descriptor, chunks)
        except OSError:
            if is_new:
                os.close(descriptor)
            raise
        data = frame(pickle.dumps((key, slot, marks, sizes), 5))
        if is_new:
            self._slots.append(descriptor)
            # The descriptor rides on the frame's first byte, so the rest is sent apart.
            socket.send_fds(self._socket, [data[:1]], [descriptor])
            data = data[1:]
        else:
            self._free.pop()
        self._socket.sendall(data)


class Receiver:
    """The loader's side: decodes one worker's frames to objects."""

    def __init__(self):
        self._reader = FrameReader()
        self._slots = []
        self.read_slots = []  # sent to the worker with its next task

    def receive(self, sock):
        """Read what `sock` has; list of (key, object), or None at the end of the stream."""
        data, descriptors, flags, _ = socket.recv_fds(
            sock, 1 << 16, 16, getattr(socket, "MSG_CMSG_CLOEXEC", 0)
        )
        self._slots += descriptors
        if flags & socket.MSG_CTRUNC:
            raise RuntimeError(
                "Too many open files. Communication with the workers is no longer possible.\n"
                "Close files in this process, or raise the limit: `ulimit -n 4096` in the shell."
            )
        if not data:
            return None
        return [self._decode(payload) for payload in self._reader.feed(data)]

    def _decode(self, payload):
        key, slot, marks, chunks = pickle.loads(payload)
        if slot is None:
            parts = [self._own(mark, chunk) for mark, chunk in zip(marks, chunks, strict=True)]
        else:
            parts, offset = [], 0
            for mark, size in zip(marks, chunks, strict=True):
                parts.append(self._read(mark, self._slots[slot], offset, size))
                offset += _aligned(size)
            self.read_slots.append(slot)
        return key, parts

    @staticmethod
    def _own(is_tensor, chunk):
        if not is_tensor:
            return bytearray(chunk)
        buffer, view = _new_buffer(len(chunk))
        view[:] = chunk
        return buffer

    @staticmethod
    def _read(is_tensor, descriptor, offset, size):
        if is_tensor:
            buffer, view = _new_buffer(size)
        else:
            buffer = bytearray(size)
            view = memoryview(buffer)
        done = 0
        while done < size:
            count = os.preadv(descriptor, [view[done:]], offset + done)
            if count == 0:
                raise RuntimeError("a DataLoader worker's shared file ended before its batch")
            done += count
        return buffer

    def close(self):
        """Close the slots' descriptors."""
        while self._slots:
            os.close(self._slots.pop())


def decode(parts):
    """The object whose chunks Receiver.receive gave."""
    return pickle.loads(parts[0], buffers=parts[1:])


def _new_buffer(size):
    buffer = rushlight.empty(size, dtype=rushlight.uint8)
    return buffer, _C._storage_memory(buffer)[:size]


def _aligned(size):
    return -(-size // kAlignment) * kAlignment


def _write(descriptor, chunks):
    offset = 0
    for chunk in chunks:
        view = memoryview(chunk).cast("B")
        done = 0
        while done < len(view):
            done += os.pwrite(descriptor, view[done:], offset + done)
        offset += _aligned(len(view))


def _anonymous_file():
    if hasattr(os, "memfd_create"):
        return os.memfd_create("rushlight-batch", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
