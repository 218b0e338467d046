"""What Tensor.set_() is given to show: a storage, a tensor, or nothing."""

from rushlight import _C
from rushlight.storage import TypedStorage, UntypedStorage


def source_of(tensor, source, offset, size, stride):
    """The tensor on the memory of `source` that `tensor.set_()` is to show."""
    if source is None:
        if (offset, size, stride) != (0, None, None):
            raise TypeError("set_(): argument 'source' must be Tensor or a storage, not None")
        return _C.empty((0,), dtype=tensor.dtype, device=tensor.device)
    if isinstance(source, _C.Tensor):
        if source.dtype != tensor.dtype:
            raise RuntimeError(
                f"Could not set tensor of type {source.dtype} to a tensor of type {tensor.dtype}"
            )
        content = _C._storage_bytes(source)
        if size is None:
            size, stride, offset = source.shape, source.stride(), source.storage_offset()
    elif isinstance(source, (TypedStorage, UntypedStorage)):
        if isinstance(source, TypedStorage) and source.dtype != tensor.dtype:
            raise RuntimeError(
                f"Expected a Storage of type {tensor.dtype} or an UntypedStorage, but got type "
                f"{source.dtype} for argument 1 'storage'"
            )
        content = source._untyped()._bytes
    else:
        raise TypeError(
            "set_() received an invalid combination of arguments: 'source' must be Tensor or a "
            f"storage, not {type(source).__name__}"
        )
    if content.device != tensor.device:
        raise RuntimeError(
            f'Attempted to set the storage of a tensor on device "{tensor.device}" to a storage on '
            f'different device "{content.device}".  This is no longer allowed; the devices must '
            "match."
        )
    if size is None:
        size = (content.numel() // tensor.element_size(),)
    if stride is None or len(stride) == 0:
        stride = _C.empty(size, device="meta").stride()
    size, stride = tuple(size), tuple(stride)
    as_it_was = size == tuple(tensor.shape) and stride == tensor.stride()
    if len(size) == len(stride) and min((offset, *size, *stride)) >= 0 and 0 not in size:
        end = offset + 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
        if end * tensor.element_size() >= 2**63:
            raise RuntimeError(
                f"Storage size calculation overflowed with sizes={list(size)} and "
                f"strides={list(stride)}\nstorage offset {offset}: the last element lies beyond "
                "64 bits"
            )
        if end * tensor.element_size() > content.numel():  # it grows where torch's does
            if as_it_was:
                raise RuntimeError(
                    f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset "
                    f"{offset}, and itemsize {tensor.element_size()} requiring a storage size of "
                    f"{end * tensor.element_size()} are out of bounds for storage of size "
                    f"{content.numel()}"
                )
            _C._resize_storage(content, end * tensor.element_size())
    return _C._view_storage(content, tensor.dtype, offset, size, stride)
