"""Variable: the name that tensors had before PyTorch 0.4."""

import warnings

from rushlight import _C


class _VariableMeta(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, _C.Tensor)


class _Engine:
    """queue_callback(f) calls f at the end of the backward pass that is under way."""

    queue_callback = staticmethod(_C._queue_callback)


class Variable(metaclass=_VariableMeta):
    """`Variable(tensor)` is the tensor itself.

    Args:
        data: the tensor.
        requires_grad: whether gradients are collected.
        volatile: was removed; True warns.

    >>> torch.autograd.Variable(torch.ones(1))
    tensor([1.])
    """

    _execution_engine = _Engine

    def __new__(cls, data, requires_grad=False, volatile=False):
        if volatile:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                stacklevel=2,
            )
        out = data.detach()
        return out.requires_grad_() if requires_grad else out
