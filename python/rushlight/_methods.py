"""Methods of Tensor that are written in Python. They load what they need on their first call."""

import functools

from rushlight import _C

Tensor = _C.Tensor


def _method(function):
    setattr(Tensor, function.__name__, function)
    return function


@_method
def __repr__(self, *, tensor_contents=None):
    from rushlight import _tensor_str

    return _tensor_str.tensor_repr(self, contents=tensor_contents)


@_method
def __format__(self, spec):
    from rushlight import _tensor_str

    return _tensor_str.tensor_format(self, spec)


@_method
def __contains__(self, element):
    """Whether an element equals a number, or a tensor's element in its place."""
    if isinstance(element, Tensor | int | float | complex):
        return (element == self).any().item()
    raise RuntimeError(
        "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
        f"{element.__class__}."
    )


@_method
def __reversed__(self):
    """reversed(x): turned around in the first dimension, in one tensor."""
    return self.flip(0) if self.dim() else self


@_method
def __reduce_ex__(self, protocol):
    from rushlight import _tensor

    return _tensor.reduce_tensor(self, protocol)


@_method
def __deepcopy__(self, memo):
    from rushlight import _tensor

    return _tensor.deepcopy_tensor(self, memo)


@_method
def register_hook(self, hook):
    """Calls `hook(grad)` when the gradient of self is known; what it returns replaces it.

    Args:
        hook: a function of the gradient, returning None or a tensor of its shape.

    Raises:
        RuntimeError: if self needs no gradient.

    >>> x = torch.ones(1, requires_grad=True)
    >>> handle = x.register_hook(lambda grad: grad * 2)
    >>> (x * 3).sum().backward()
    >>> x.grad
    tensor([6.])
    """
    return _C._register_tensor_hook(self, hook)


@_method
def register_post_accumulate_grad_hook(self, hook):
    """Calls `hook(self)` each time backward() has added to .grad of this leaf."""
    return _C._register_post_accumulate_grad_hook(self, hook)


@_method
def is_inference(self):
    """Whether the tensor was made inside inference_mode()."""
    return _C._is_inference(self)


@_method
def type(self, dtype=None, non_blocking=False):
    """The name of the legacy type ("torch.FloatTensor"), or the tensor cast to a dtype.

    >>> torch.ones(1).type()
    'torch.FloatTensor'
    """
    from rushlight import _python_ops

    return _python_ops._tensor_type(self, dtype)


@_method
def __dlpack__(self, *, stream=-1, max_version=None, dl_device=None, copy=None):
    """A capsule by which another library reads the tensor's memory; np.from_dlpack() calls this."""
    from rushlight.utils import dlpack

    return dlpack._lend(self, stream, max_version, dl_device, copy)


@_method
def __dlpack_device__(self):
    """(kind, index) of the device the tensor lies on, in DLPack's numbers."""
    from rushlight.utils import dlpack

    return dlpack._device_of(self)


@_method
def is_shared(self):
    """Whether the storage lies in memory that other processes see, as share_memory_() makes it."""
    from rushlight.multiprocessing import _shared

    return _shared.is_shared(self)


@_method
def share_memory_(self):
    """Moves the elements to memory that other processes see, and returns self.

    >>> torch.ones(2).share_memory_().is_shared()
    True
    """
    from rushlight.multiprocessing import _shared

    return _shared.share(self)


@_method
def as_subclass(self, cls):
    """The same elements as an object of `cls`, a subclass of Tensor; gradients flow through.

    Raises:
        TypeError: if `cls` is no subclass of Tensor.

    >>> class Image(torch.Tensor):
    ...     pass
    >>> torch.zeros(2).as_subclass(Image)
    Image([0., 0.])
    """
    return _C._as_subclass(self, cls)


@_method
def untyped_storage(self):
    """The storage behind the tensor, as bytes.

    >>> torch.ones(2, 2).untyped_storage().nbytes()
    16
    """
    from rushlight.storage import UntypedStorage

    return UntypedStorage._of(self)


@_method
def _typed_storage(self):
    from rushlight.storage import TypedStorage

    return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype)


@_method
def storage(self):
    """The storage behind the tensor, as elements; `untyped_storage` is what programs use now."""
    from warnings import warn

    warn(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be "
        "the only storage class. This should only matter to you if you are using storages "
        "directly.  To access UntypedStorage directly, use tensor.untyped_storage() instead of "
        "tensor.storage()",
        UserWarning,
        stacklevel=2,
    )
    return self._typed_storage()


@_method
def __dir__(self):
    return sorted({*dir(self.__class__), *getattr(self, "__dict__", ())})


def _of_functional(name):
    """A method whose work is done by the function of its name in rushlight.functional."""

    def method(self, *args, **kwargs):
        from rushlight import functional

        return getattr(functional, name)(self, *args, **kwargs)

    method.__name__, method.__doc__ = name, f"See torch.{name}()."
    setattr(Tensor, name, method)


for _name in "allclose diff isclose kron repeat_interleave".split():
    _of_functional(_name)


def _enter_device(self):
    """Inside the block new tensors are made on this device if none is named."""
    _C._enter_device(self)
    return self


def _leave_device(self, *error):
    _C._leave_device()


_C.device.__enter__ = _enter_device  # type: ignore[attr-defined]
_C.device.__exit__ = _leave_device  # type: ignore[attr-defined]


def _disabled_torch_function_impl(*args, **kwargs):
    """What a subclass names as its __torch_function__ so that results are plain tensors."""
    raise NotImplementedError("only the name of this function counts")


_C._disabled_torch_function_impl = _disabled_torch_function_impl
setattr(Tensor, "_make_subclass", functools.partial(_C._make_subclass))  # noqa: B010 - static


def _array_wrap(self, array, context=None, return_scalar=False):
    """What NumPy's functions of a tensor give: a tensor, and as torch has it bytes for bools."""
    return _C.from_numpy(array.astype("uint8") if array.dtype == bool else array)


Tensor.__array_wrap__ = _array_wrap  # type: ignore[attr-defined]
Tensor.__array_priority__ = 1000  # type: ignore[attr-defined]
Tensor.__module__ = "rushlight"
