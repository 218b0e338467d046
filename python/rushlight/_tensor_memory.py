"""Tensor methods of storages and memory: storage(), set_(), share_memory_(), older constructors."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import op
from rushlight._warn_once import warn_once


@op("Tensor")
def untyped_storage(self: Tensor):
    """The storage of the tensor, as bytes.

    >>> torch.ones(2, 2).untyped_storage().nbytes()
    16
    """
    from rushlight.storage import UntypedStorage

    return UntypedStorage._of(self)


@op("Tensor")
def _typed_storage(self: Tensor):
    from rushlight.storage import TypedStorage

    return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype)


@op("Tensor")
def storage(self: Tensor):
    """The storage of the tensor, as elements; `untyped_storage` is the current way.

    >>> torch.ones(2).storage().tolist()
    [1.0, 1.0]
    """
    warn_once(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be "
        "the only storage class. This should only matter to you if you are using storages "
        "directly.  To access UntypedStorage directly, use tensor.untyped_storage() instead of "
        "tensor.storage()"
    )
    return self._typed_storage()


@op("Tensor")
def to_dense(self: Tensor, dtype=None, *, masked_grad=None):
    """The tensor itself, cast if `dtype` is given: all tensors are dense.

    Args:
        dtype: of the result.
        masked_grad: without effect.

    Shape: that of self.

    >>> torch.ones(2).to_dense()
    tensor([1., 1.])
    """
    return self if dtype is None else self.to(dtype)


@op("Tensor")
def sparse_dim(self: Tensor) -> int:
    """Returns 0: how many dimensions are sparse.

    >>> torch.ones(2, 3).sparse_dim()
    0
    """
    return 0


@op("Tensor")
def dense_dim(self: Tensor) -> int:
    """The number of dimensions, as all are dense.

    >>> torch.ones(2, 3).dense_dim()
    2
    """
    return self.dim()


@op("Tensor")
def set_(self: Tensor, source=None, storage_offset=0, size=None, stride=None):
    """Makes the tensor a view of another tensor's memory, or of a storage.

    Args:
        source: a tensor or a storage of the same dtype on the same device; an empty tensor if None.
        storage_offset: index of the first element.
        size: the shape; of a storage, all of it if None.
        stride: the strides; row-major if None.

    Raises:
        RuntimeError: if dtype or device differ, self requires grad, or the geometry reaches beyond
            a storage that cannot grow.

    >>> x, y = torch.zeros(2), torch.arange(6.0)
    >>> x.set_(y.untyped_storage(), 1, (2, 2), (2, 1))
    tensor([[1., 2.],
            [3., 4.]])
    """
    from rushlight._set_source import source_of

    if self.requires_grad and _C.is_grad_enabled():
        if self.is_leaf:
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation."
                "\nset_(): write under `with torch.no_grad():`"
            )
        raise RuntimeError("set_() has no gradient; use it on a detach()ed tensor")
    self.data = source_of(self, source, storage_offset, size, stride)
    return self


@op("Tensor")
def resize(self: Tensor, *sizes: int):
    """The older name of reshape().

    >>> torch.arange(4).resize(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    import warnings

    warnings.warn("non-inplace resize is deprecated", UserWarning, stacklevel=2)
    return self.reshape(*sizes)


@op("Tensor")
def resize_as(self: Tensor, tensor):
    """The older name of reshape_as().

    >>> torch.arange(4).resize_as(torch.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    import warnings

    warnings.warn("non-inplace resize_as is deprecated", UserWarning, stacklevel=2)
    return self.reshape(tensor.shape)


@op("torch", "Tensor")
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format=None):
    """resize_() to the shape of another tensor; with torch.preserve_format also to its strides.

    >>> torch.tensor([1, 2, 3]).resize_as_(torch.zeros(2))
    tensor([1, 2])
    """
    if memory_format is not _C.preserve_format:
        format_of = {} if memory_format is None else {"memory_format": memory_format}
        return input.resize_(the_template.shape, **format_of)
    if the_template.is_contiguous(memory_format=_C.channels_last):
        return input.resize_(the_template.shape, memory_format=_C.channels_last)
    return input.resize_(the_template.shape)


@op("Tensor")
def new(self: Tensor, *args, size=None, device=None):
    """The older constructor: a tensor of self's dtype and device, uninitialised or of given data.

    Args:
        *args: the sizes, or the data.
        size: the sizes, instead of `args`.
        device: another device.

    Shape: the sizes that are given, or that of the data.

    >>> torch.tensor([0.5]).new([1, 2])
    tensor([1., 2.])
    """
    from rushlight._tensor_types import construct

    device = self.device if device is None else _C.device(device)
    if size is not None:
        if args or not isinstance(size, tuple | list):
            raise TypeError(
                "new() received an invalid combination of arguments: size is a tuple of ints, and "
                "given without sizes or data"
            )
        args = (_C.Size(size),)
    return construct(args, self.dtype, device, self.type())


@op("Tensor")
def new_empty_strided(
    self: Tensor, size, stride, *, dtype=None, layout=None, device=None, requires_grad=False,
    pin_memory=False,
):  # fmt: skip
    """An uninitialised tensor of self's dtype and device with given strides.

    Args:
        size: the shape.
        stride: the strides.
        dtype, device: of the result; self's if None.
        layout, requires_grad, pin_memory: of the result.

    Shape: size.

    >>> torch.zeros(1).new_empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    return _C.empty_strided(
        size,
        stride,
        dtype=dtype or self.dtype,
        layout=layout,
        device=device or self.device,
        requires_grad=requires_grad,
        pin_memory=pin_memory,
    )


@op("Tensor")
def is_shared(self: Tensor):
    """Whether the storage is in memory that other processes can map: after share_memory_(), of
    a mapped file (torch.from_file, torch.load(mmap=True)) and, as torch says, on a GPU.

    >>> torch.ones(2).is_shared()
    False
    """
    from rushlight.multiprocessing import _shared

    return _shared.is_shared(self)


@op("Tensor")
def share_memory_(self: Tensor):
    """Moves the storage to memory that other processes can map; returns self.

    >>> torch.ones(2).share_memory_().is_shared()
    True
    """
    from rushlight.multiprocessing import _shared

    return _shared.share(self)


@op("torch")
def is_storage(obj):
    """Whether `obj` is a storage.

    Args:
        obj: any object.

    >>> torch.is_storage(torch.ones(2).untyped_storage())
    True
    """
    from rushlight.storage import TypedStorage, UntypedStorage

    return isinstance(obj, TypedStorage | UntypedStorage)


@op("Tensor", differentiable=False)
def record_stream(input: Tensor, s) -> None:
    """Says that a stream uses the tensor's memory: it is used again only after the stream's work.

    Memory is otherwise used again in the order of the stream where it was taken. Call this for a
    tensor made on one stream and used on another before the last reference to it goes.

    Args:
        s: a `torch.cuda.Stream`, of any device.

    Raises:
        NotImplementedError: if the tensor is not on a GPU.

    >>> with torch.cuda.virtual(1):
    ...     side = torch.cuda.Stream()
    ...     x = torch.ones(3, device="cuda")
    ...     side.wait_stream(torch.cuda.current_stream())
    ...     with torch.cuda.stream(side):
    ...         y = x * 2
    ...     x.record_stream(side)
    """
    from rushlight.cuda.streams import Stream

    if not isinstance(s, Stream):
        raise RuntimeError(
            "unknown parameter type\n"
            f"record_stream(): argument 's' must be a torch.cuda.Stream, not {type(s).__name__}"
        )
    _C._cuda.record_stream(input, s.device_index, s.stream_id)
