"""Methods of Tensor that Python itself calls, hooks and subclasses; copying and pickling.

Note: `save` stores exactly what `reduce_tensor` returns, under PyTorch's names.
"""

from __future__ import annotations

import builtins

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import op


def _reduce_plain(tensor):
    """(function, arguments) that rebuild the values of a tensor, without class and attributes."""
    from collections import OrderedDict

    from rushlight import _utils
    from rushlight._dtype_names import NAMES, UNTYPED
    from rushlight.storage import TypedStorage, UntypedStorage

    size, stride = tuple(tensor.shape), tuple(tensor.stride())
    if tensor.device.type == "meta":
        arguments = (tensor.dtype, size, stride, tensor.requires_grad)
        return _utils._rebuild_meta_tensor_no_storage, arguments
    storage = UntypedStorage._of(tensor)
    place = (tensor.storage_offset(), size, stride, tensor.requires_grad, OrderedDict())
    if NAMES[tensor.dtype] in UNTYPED:
        return _utils._rebuild_tensor_v3, (storage, *place, tensor.dtype)
    typed = TypedStorage(wrap_storage=storage, dtype=tensor.dtype)
    return _utils._rebuild_tensor_v2, (typed, *place)


def reduce_tensor(tensor, protocol):
    """``Tensor.__reduce_ex__``: rebuilds by functions, keeping storage, strides and class."""
    from rushlight._utils import get_state

    kind, state = builtins.type(tensor), get_state(tensor)
    if kind is _C.Tensor and not state:
        return _reduce_plain(tensor)
    function, arguments = _reduce_plain(tensor)
    return _rebuild_from_type_v2, (function, kind, arguments, state)


def reduce_parameter(parameter, protocol):
    """``Parameter.__reduce_ex__``."""
    from collections import OrderedDict

    from rushlight import _utils

    state = _utils.get_state(parameter)
    arguments = (parameter.data, parameter.requires_grad, OrderedDict())
    if not state:
        return _utils._rebuild_parameter, arguments
    return _utils._rebuild_parameter_with_state, (*arguments, state)


def _rebuild_from_type_v2(function, kind, arguments, state):
    from rushlight._utils import set_state

    tensor = function(*arguments)
    if builtins.type(tensor) is not kind:
        tensor = tensor.as_subclass(kind)
    own = getattr(kind, "__setstate__", None)
    if own is not None and own is not getattr(_C.Tensor, "__setstate__", None):
        tensor.__setstate__(state)
        return tensor
    return set_state(tensor, state)


def deepcopy_tensor(tensor, memo):
    """``Tensor.__deepcopy__``: tensors that share a storage still share one afterwards."""
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
            "because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001\n"
            f"this tensor comes from {tensor.grad_fn.name()}; copy tensor.detach() instead"
        )
    if id(tensor) in memo:
        return memo[id(tensor)]
    from copy import deepcopy

    from rushlight._utils import get_state, set_state
    from rushlight.storage import UntypedStorage

    if tensor.device.type == "meta":
        copied = tensor.detach().clone()
    else:
        storage = UntypedStorage._of(tensor)._deepcopy(memo)
        geometry = (tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride()))
        copied = _C._view_storage(storage._bytes, tensor.dtype, *geometry)
    if builtins.type(tensor) is not builtins.type(copied):
        copied = copied.as_subclass(builtins.type(tensor))
    if tensor.requires_grad:
        copied.requires_grad_()
    if tensor.grad is not None:
        copied.grad = deepcopy(tensor.grad, memo)
    memo[id(tensor)] = copied
    state = get_state(tensor)
    return set_state(copied, deepcopy(state, memo)) if state else copied


@op("Tensor")
def __reduce_ex__(self: Tensor, protocol):
    return reduce_tensor(self, protocol)


@op("Tensor")
def __deepcopy__(self: Tensor, memo):
    return deepcopy_tensor(self, memo)


@op("Tensor")
def __array_wrap__(self: Tensor, array, context=None, return_scalar=False):
    """What NumPy's functions of a tensor give: a tensor, and as torch has it bytes for bools."""
    return _C.from_numpy(array.astype("uint8") if array.dtype == bool else array)


@op("Tensor")
def _is_view(self: Tensor):
    """Whether the tensor is a view of another, which `_base` is.

    >>> torch.ones(2)[0]._is_view()
    True
    """
    return self._base is not None


@op("Tensor")
def __repr__(self: Tensor, *, tensor_contents=None):
    from rushlight import _tensor_str

    return _tensor_str.tensor_repr(self, contents=tensor_contents)


@op("Tensor")
def __format__(self: Tensor, spec):
    from rushlight import _tensor_str

    return _tensor_str.tensor_format(self, spec)


@op("Tensor")
def __complex__(self: Tensor):
    if self.numel() != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return builtins.complex(self.item())


@op("Tensor")
def __contains__(self: Tensor, element):
    """Whether an element equals a scalar, or an element of a tensor broadcast to self."""
    if isinstance(element, _C.Tensor | int | float | complex):
        return bool(_C.any(_C.eq(self, element)))
    raise RuntimeError(
        "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
        f"{element.__class__}."
    )


@op("Tensor")
def __reversed__(self: Tensor):
    """reversed(x): flipped in the first dimension, in one tensor."""
    return self.flip(0) if self.dim() else self


@op("Tensor")
def register_hook(self: Tensor, hook):
    """Calls `hook(grad)` when the gradient of self is computed; what it returns replaces it.

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


@op("Tensor")
def register_post_accumulate_grad_hook(self: Tensor, hook):
    """Calls `hook(self)` after backward() has added to the .grad of this leaf.

    Args:
        hook: a function of the leaf.

    Returns: a handle whose `remove()` removes the hook.

    >>> w = torch.ones(1, requires_grad=True)
    >>> handle = w.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
    >>> (w * 3).sum().backward()
    tensor([3.])
    """
    return _C._register_post_accumulate_grad_hook(self, hook)


@op("torch", "Tensor")
def is_inference(input: Tensor):
    """Whether the tensor was made inside inference_mode().

    >>> torch.ones(1).is_inference()
    False
    """
    return _C._is_inference(input)


@op("Tensor")
def type(self: Tensor, dtype=None, non_blocking: bool = False):
    """The name of the legacy type ("torch.FloatTensor"), or the tensor cast to a dtype.

    Args:
        dtype: a dtype, a legacy type or its name; None gives the name.
        non_blocking: let a copy to a GPU run beside the host.

    Shape: that of self.

    >>> torch.ones(1).type()
    'torch.FloatTensor'
    """
    from rushlight._tensor_types import tensor_type

    return tensor_type(self, dtype, non_blocking)


@op("Tensor")
def __dlpack__(self: Tensor, *, stream=-1, max_version=None, dl_device=None, copy=None):
    """A capsule by which another library reads the tensor's memory; np.from_dlpack() calls this."""
    from rushlight.utils import dlpack

    return dlpack._lend(self, stream, max_version, dl_device, copy)


@op("Tensor")
def __dlpack_device__(self: Tensor):
    """(type, index) of the tensor's device, as DLPack's integers."""
    from rushlight.utils import dlpack

    return dlpack._device_of(self)


@op("Tensor")
def as_subclass(self: Tensor, cls):
    """The same elements as an object of `cls`, a subclass of Tensor; gradients flow through.

    Args:
        cls: the class.

    Shape: that of self.

    Raises:
        TypeError: if `cls` is no subclass of Tensor.

    >>> class Image(torch.Tensor):
    ...     pass
    >>> torch.zeros(2).as_subclass(Image)
    Image([0., 0.])
    """
    return _C._as_subclass(self, cls)


@op("Tensor")
def __dir__(self: Tensor):
    return sorted({*dir(self.__class__), *getattr(self, "__dict__", ())})


@op("Tensor")
def __rdiv__(self: Tensor, other):
    """other / self: the name that Python 2 had for it."""
    return self.reciprocal() * other


@op("Tensor")
def module_load(self: Tensor, other: Tensor, assign: bool = False):
    """What load_state_dict() swaps with a parameter or buffer, where modules swap their tensors
    (torch.__future__.set_swap_module_params_on_conversion): a new object.

    Args:
        other: the tensor that is loaded.
        assign: it itself, detached; otherwise its values are copied into this one.

    Shape: that of other with assign, else this one's.

    >>> torch.zeros(2).module_load(torch.ones(2))
    tensor([1., 1.])
    """
    return (other if assign else self.copy_(other)).detach()


@op("Tensor")
def dim_order(self: Tensor, *, ambiguity_check=False):
    """The dimensions from the one with the largest stride to the one with the smallest.

    Args:
        ambiguity_check: True raises RuntimeError if other orders describe the memory as well; a
            list of memory formats does, unless the tensor has just one of them.

    >>> torch.empty(2, 3, 4, 5, memory_format=torch.channels_last).dim_order()
    (0, 2, 3, 1)
    """
    size, stride, n = self.shape, self.stride(), self.dim()
    if not isinstance(ambiguity_check, (bool, list)):
        raise TypeError(
            "The ambiguity_check argument must be a bool or a list of memory formats, not "
            f"{ambiguity_check!r}"
        )
    if ambiguity_check is not False:
        steps = [each for each in stride if self.numel()]
        ambiguous = 0 in steps or 1 in size or len({*steps}) < len(steps)
        formats = [] if ambiguity_check is True else ambiguity_check
        if ambiguous and sum(self.is_contiguous(memory_format=each) for each in formats) != 1:
            raise RuntimeError(
                "The tensor does not have unique dim order, or cannot map to exact one of the "
                "given memory formats."
            )
    if self.is_contiguous():
        return tuple(range(n))
    order = list(reversed(range(n)))
    for i in range(1, n):
        moved = i
        for before in reversed(range(i)):
            a, b = order[before], order[moved]
            if stride[a] == 0 or stride[b] == 0:
                continue  # a broadcast dimension fits anywhere
            if stride[a] < stride[b]:
                break
            if stride[a] > stride[b] or size[a] > size[b]:
                order[before], order[moved] = b, a
                moved = before
    return tuple(reversed(order))
