"""The functions that saved tensors name: each rebuilds a tensor from its storage and its shape.

Note: files contain these names and argument orders ("torch._utils _rebuild_tensor_v2"), and a
hostile file calls them with whatever it likes; so every argument is checked here or in C++ before
anything is made of it.
"""

import weakref
from _thread import _local

from rushlight import _C


def _integers(what, values):
    if not isinstance(values, tuple | list) or any(type(v) is not int for v in values):
        raise RuntimeError(f"a saved tensor's {what} must be a tuple of ints")
    return tuple(values)


def _flag(value):
    if type(value) is not bool:
        raise RuntimeError(f"a saved tensor's requires_grad must be a bool, not {type(value)}")
    return value


def _view(storage, dtype, offset, size, stride):
    from rushlight.storage import TypedStorage, UntypedStorage

    if not isinstance(storage, TypedStorage | UntypedStorage):
        raise RuntimeError(f"a saved tensor needs a storage, got {type(storage).__name__}")
    size, stride = _integers("size", size), _integers("stride", stride)
    (offset,) = _integers("storage offset", (offset,))
    if dtype is None:
        dtype = storage.dtype if isinstance(storage, TypedStorage) else _C.uint8
    elif not isinstance(dtype, _C.dtype):
        raise RuntimeError(f"a saved tensor's dtype must be a dtype, not {type(dtype)}")
    return _C._view_storage(storage._untyped()._bytes, dtype, offset, size, stride)


def _rebuild_tensor(storage, storage_offset, size, stride):
    return _view(storage, None, storage_offset, size, stride)


# storage -> {(conjugated, negated): its copy with those signs}. A file may name a storage as often
# as it likes: of each there is one copy, which its tensors share.
_with_signs: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def _resolved(storage, metadata):
    """The storage, its elements conjugated or negated where a file says that this is to be done."""
    if metadata is None:
        return storage
    if not isinstance(metadata, dict):
        raise RuntimeError(f"a saved tensor's metadata must be a dict, not {type(metadata)}")
    signs = (metadata.get("conj") is True, metadata.get("neg") is True)
    if not any(signs):
        return storage
    dtype = getattr(storage, "dtype", None)
    if dtype is None or not (dtype.is_complex or (dtype.is_floating_point and not signs[0])):
        raise RuntimeError(f"a saved tensor of {dtype} cannot be conjugated or negated")
    copies = _with_signs.setdefault(storage._untyped(), {})
    if signs not in copies:
        copies[signs] = storage.clone()
        _write_signs(copies[signs], *signs)
    return copies[signs]


def _write_signs(copy, conjugated, negated):
    elements = copy._tensor()
    parts = _C.view_as_real(elements) if elements.is_complex() else elements
    if negated:
        parts.neg_()
    if conjugated:
        parts[..., 1].neg_()


def storage_was_filled(storage):
    """For files whose tensors come before their elements: the copies get theirs now."""
    for signs, copy in _with_signs.get(storage._untyped(), {}).items():
        copy._untyped().copy_(storage._untyped())
        _write_signs(copy, *signs)


def _get_layout(name):
    """The layout that a file names."""
    if name == "torch.strided":
        return _C.strided
    if name in ("torch.sparse_coo", "torch.sparse_csr", "torch.sparse_csc"):
        import rushlight

        return getattr(rushlight, name.removeprefix("torch."))
    raise RuntimeError(f"the layout {name!r:.100} is not in rushlight 0.1")


_get_layout.__module__ = "rushlight.serialization"  # where files name it


class SparseLater:
    """For files whose tensors come before their elements: meanwhile indices are not looked at."""

    def __enter__(self):
        self._made = _later.made = []
        return self

    def __exit__(self, *failure):
        _later.made = None

    def check(self):
        """Make the sparse tensors what their parts, which have their elements now, say."""
        _later.made = None
        for made, layout, data in self._made:
            vars(made).update(vars(_rebuild_sparse_tensor(layout, data)))


_later = _local()


def _unchecked_sparse(layout, data, size):
    from rushlight._sparse import tensor

    if layout.name == "sparse_coo":
        made = tensor.coordinates(*data[:2], size, False)
    else:
        kind = tensor.ByRows if layout.name == "sparse_csr" else tensor.ByColumns
        made = tensor.compressed(kind, *data[:3], size)
    _later.made.append((made, layout, data))
    return made


def _rebuild_sparse_tensor(layout, data):
    """A sparse tensor from its parts, which are checked as those of a call."""
    import rushlight

    name = getattr(layout, "name", None)
    if not isinstance(data, tuple | list):
        raise RuntimeError("a saved sparse tensor's parts must be a tuple")
    sizes = 2 if name == "sparse_coo" else 3
    if len(data) not in (sizes + 1, sizes + 2) or any(
        type(part) is not _C.Tensor for part in data[:sizes]
    ):
        raise RuntimeError("a saved sparse tensor's parts must be tensors and its size")
    size = _integers("size", data[sizes])
    if max(size, default=0) >= 2**63:
        raise RuntimeError("a saved sparse tensor's size has more than 64 bits")
    late = getattr(_later, "made", None) is not None
    if late and name in ("sparse_coo", "sparse_csr", "sparse_csc"):
        return _unchecked_sparse(layout, data, size)
    if name == "sparse_coo":
        coalesced = data[3] if len(data) > 3 else False
        return rushlight.sparse_coo_tensor(*data[:2], size, is_coalesced=coalesced is True)
    if name in ("sparse_csr", "sparse_csc"):
        return rushlight.sparse_compressed_tensor(*data[:3], size, layout=layout)
    raise RuntimeError(f"a sparse tensor of layout {layout!r:.100} is not in rushlight 0.1")


def _rebuild_tensor_v2(
    storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None
):
    tensor = _view(_resolved(storage, metadata), None, storage_offset, size, stride)
    return tensor.requires_grad_() if _flag(requires_grad) else tensor


def _rebuild_tensor_v3(
    storage, storage_offset, size, stride, requires_grad, backward_hooks, dtype, metadata=None
):
    tensor = _view(storage, dtype, storage_offset, size, stride)
    return tensor.requires_grad_() if _flag(requires_grad) else tensor


def _rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad):
    from rushlight.storage import TypedStorage, UntypedStorage

    size, stride = _integers("size", size), _integers("stride", stride)
    if not isinstance(dtype, _C.dtype):
        raise RuntimeError(f"a saved tensor's dtype must be a dtype, not {type(dtype)}")
    span = 0 if 0 in size else 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=False))
    storage = UntypedStorage._around(
        _C.empty((span * dtype.itemsize,), dtype=_C.uint8, device="meta")
    )
    typed = TypedStorage(wrap_storage=storage, dtype=dtype)
    return _rebuild_tensor_v2(typed, 0, size, stride, requires_grad, None)


def _rebuild_parameter(data, requires_grad, backward_hooks):
    from rushlight.nn.parameter import Parameter

    if not isinstance(data, _C.Tensor):
        raise RuntimeError(f"a saved parameter needs a tensor, got {type(data).__name__}")
    return Parameter(data, _flag(requires_grad))


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    return set_state(_rebuild_parameter(data, requires_grad, backward_hooks), state)


def get_state(tensor):
    """The attributes that a program has put on a tensor: its dict, with slots beside it if any."""
    state = getattr(tensor, "__dict__", None) or {}
    names = () if type(tensor) is _C.Tensor else _slot_names(type(tensor))
    slots = {name: getattr(tensor, name) for name in names if hasattr(tensor, name)}
    return (state, slots) if slots else state


def _slot_names(kind):
    names = []
    for base in kind.__mro__:
        declared = base.__dict__.get("__slots__", ())
        names += (declared,) if isinstance(declared, str) else declared
    return [name for name in names if name not in ("__dict__", "__weakref__")]


def set_state(tensor, state):
    """Puts the attributes that :func:`get_state` found on another tensor; returns it."""
    state, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    for part in (state, slots):
        if part is not None and type(part) is not dict:
            raise RuntimeError(f"Invalid serialized state: {type(part).__name__}")
    if state:
        tensor.__dict__.update(state)
    if slots:
        declared = _slot_names(type(tensor))
        for name, value in slots.items():
            if name not in declared:
                raise RuntimeError(f"Invalid serialized state: {type(tensor)} has no such slot")
            setattr(tensor, name, value)
    return tensor


def _get_available_device_type():
    """The kind of accelerator that is there, or None."""
    from rushlight import cuda

    return "cuda" if cuda.is_available() else None


def _get_device_module(device_type):
    """The module of a kind of device, such as torch.cuda."""
    from rushlight import get_device_module

    return get_device_module(device_type)


def _flatten_dense_tensors(tensors):
    """The elements of all tensors in one, of one dimension."""
    return _C.cat([tensor.reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat, tensors):
    """The reverse: views of `flat` with the shapes of `tensors`."""
    parts = _C.split(flat, [tensor.numel() for tensor in tensors])
    return tuple(part.view(like.shape) for part, like in zip(parts, tensors, strict=True))


def _take_tensors(tensors, size_limit):
    """Lists of tensors of one type, each of `size_limit` bytes at most if it has two or more."""
    lists: dict = {}
    for tensor in tensors:
        kind, size = tensor.type(), tensor.numel() * tensor.element_size()
        taken, total = lists.get(kind, ([], 0))
        if total > 0 and total + size > size_limit:
            yield taken
            taken, total = [], 0
        lists[kind] = ([*taken, tensor], total + size)
    yield from (taken for taken, _ in lists.values() if taken)


def _reorder_tensors_as(tensors, ordered_tensors):
    """`tensors`, which are in order within their types, in the order of types of the others."""
    by_type: dict = {}
    for tensor in tensors:
        by_type.setdefault(tensor.type(), []).append(tensor)
    queues = {kind: iter(taken) for kind, taken in by_type.items()}
    return tuple(next(queues[tensor.type()]) for tensor in ordered_tensors)


def _element_size(dtype):
    """The bytes of an element."""
    if not isinstance(dtype, _C.dtype):
        raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
    return dtype.itemsize


def _get_all_device_indices():
    """The indices of all GPUs."""
    from rushlight.cuda import device_count

    return list(range(device_count())) or None


def _get_devices_properties(device_ids):
    """The properties of each of these GPUs."""
    from rushlight.cuda import get_device_properties

    return [get_device_properties(device) for device in device_ids]


class _ClassProperty:
    def __init__(self, function):
        self.function = function

    def __get__(self, instance, owner=None):
        return self.function.__get__(instance, owner or type(instance))()


def classproperty(func):
    """A property of a class: what the function makes of the class."""
    return _ClassProperty(
        func if isinstance(func, classmethod | staticmethod) else classmethod(func)
    )


def __getattr__(name):
    if name == "ExceptionWrapper":
        from rushlight.utils.data._utils.exception import ExceptionWrapper

        return ExceptionWrapper
    if name == "_get_device_index":
        from rushlight.cuda._device import _get_device_index

        return _get_device_index
    if name == "torch":  # pickles name formats of memory as torch.contiguous_format of this module
        import rushlight

        return rushlight
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
