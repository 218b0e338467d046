"""Variable: the name that tensors had before PyTorch 0.4."""

from rushlight import _C


class _VariableMeta(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, _C.Tensor)


class Variable(metaclass=_VariableMeta):
    """`Variable(tensor)` is the tensor itself.

    Args:
        data: the tensor.
        requires_grad: whether gradients are collected.
        volatile: has no effect.

    >>> torch.autograd.Variable(torch.ones(1))
    tensor([1.])
    """

    def __new__(cls, data, requires_grad=False, volatile=False):
        out = data.detach()
        return out.requires_grad_() if requires_grad else out
