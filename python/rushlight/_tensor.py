"""Copying and pickling of tensors: what `copy.deepcopy`, `pickle` and `save` ask a tensor for.

A changer must know: `save` stores exactly what `reduce_tensor` returns, under PyTorch's names.
"""

from rushlight import _C


def _reduce_plain(tensor):
    """(function, arguments) that rebuild the values of a tensor, without class and attributes."""
    from collections import OrderedDict

    from rushlight import _utils
    from rushlight.storage import TypedStorage, UntypedStorage

    size, stride = tuple(tensor.shape), tuple(tensor.stride())
    if tensor.device.type == "meta":
        arguments = (tensor.dtype, size, stride, tensor.requires_grad)
        return _utils._rebuild_meta_tensor_no_storage, arguments
    storage = TypedStorage(wrap_storage=UntypedStorage._of(tensor), dtype=tensor.dtype)
    return _utils._rebuild_tensor_v2, (
        storage,
        tensor.storage_offset(),
        size,
        stride,
        tensor.requires_grad,
        OrderedDict(),
    )


def reduce_tensor(tensor, protocol):
    """``Tensor.__reduce_ex__``: rebuilds by functions, keeping storage, strides and class."""
    from rushlight._utils import get_state

    kind, state = type(tensor), get_state(tensor)
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
    if type(tensor) is not kind:
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
        place = (tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride()))
        copied = _C._view_storage(storage._bytes, tensor.dtype, *place)
    if type(tensor) is not type(copied):
        copied = copied.as_subclass(type(tensor))
    if tensor.requires_grad:
        copied.requires_grad_()
    if tensor.grad is not None:
        copied.grad = deepcopy(tensor.grad, memo)
    memo[id(tensor)] = copied
    state = get_state(tensor)
    return set_state(copied, deepcopy(state, memo)) if state else copied
