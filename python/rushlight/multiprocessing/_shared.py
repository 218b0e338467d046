"""Tensors in memory that several processes see: share_memory_(), and how such a tensor travels.

The memory is a file without a name; a process gets its descriptor by being forked, or with the
pickled tensor. Note: the map below is by storage, so that views share with it; an entry goes when
its memory is unmapped, which is when the last tensor on it is gone.
"""

import mmap
import os
import weakref
from multiprocessing import reduction

from rushlight import _C


class _Map(mmap.mmap):
    """Mapped memory, with its file."""

    descriptor = -1

    def __del__(self):
        if self.descriptor >= 0:
            os.close(self.descriptor)


_UNMAPPED, _MAPPED_TO_WRITE = 0, 2  # of _C._mapping

_maps: weakref.WeakValueDictionary[int, _Map] = weakref.WeakValueDictionary()


def _memory(size, descriptor=None):
    """The bytes of a file as a tensor; of a new one if there is no descriptor."""
    if descriptor is None:
        descriptor = os.memfd_create("rushlight")
        os.ftruncate(descriptor, size)
    elif os.fstat(descriptor).st_size < size:
        raise RuntimeError(
            f"shared memory of {os.fstat(descriptor).st_size} bytes cannot hold {size}"
        )
    mapped = _Map(descriptor, size)
    mapped.descriptor = descriptor
    tensor = _C.frombuffer(mapped, dtype=_C.uint8)
    _maps[_C._storage_id(tensor)] = mapped
    return tensor


def _is_ours(tensor):
    return not tensor.is_cuda and _C._storage_id(tensor) in _maps


def is_shared(tensor):
    """Tensor.is_shared()."""
    if tensor.is_cuda or tensor.device.type == "meta":
        return tensor.is_cuda
    return _is_ours(tensor) or _C._mapping(tensor) != _UNMAPPED


def share(tensor):
    """Tensor.share_memory_(): moves the elements into shared memory, once."""
    if tensor.is_cuda or tensor.device.type == "meta" or _is_ours(tensor):
        return tensor
    if _C._mapping(tensor) == _MAPPED_TO_WRITE:
        return tensor
    own = tensor.detach()
    size = own.untyped_storage().nbytes()
    if size == 0:
        return tensor
    bytes_ = _memory(size)
    bytes_.copy_(_C._storage_bytes(own))
    geometry = own.storage_offset(), tuple(own.shape), tuple(own.stride())
    tensor.data = _C._view_storage(bytes_, own.dtype, *geometry)
    return tensor


def _rebuild(kind, descriptor, size, dtype, geometry, requires_grad):
    from rushlight.nn import Parameter

    bytes_ = _memory(size, descriptor.detach())
    tensor = _C._view_storage(bytes_, dtype, *geometry)
    if kind == "parameter":
        return Parameter(tensor, requires_grad)
    return tensor.requires_grad_(requires_grad)


def _reduce(tensor):
    """What multiprocessing pickles in place of a tensor."""
    from rushlight.nn import Parameter

    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd "
            "does not support crossing process boundaries.  If you just want to transfer the data, "
            "call detach() on the tensor before serializing (e.g., putting it on the queue)."
        )
    if not _is_ours(tensor) or type(tensor) not in (_C.Tensor, Parameter):
        return tensor.__reduce_ex__(2)
    mapped = _maps[_C._storage_id(tensor)]
    geometry = tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride())
    kind = "parameter" if isinstance(tensor, Parameter) else "tensor"
    descriptor = reduction.DupFd(mapped.descriptor)
    rest = (len(mapped), tensor.dtype, geometry, tensor.requires_grad)
    return _rebuild, (kind, descriptor, *rest)


def register():
    """Has multiprocessing pickle tensors in this way."""
    from rushlight.nn import Parameter

    reduction.register(_C.Tensor, _reduce)
    reduction.register(Parameter, _reduce)
