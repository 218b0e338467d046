"""The gradients of convolutions, as functions."""

from rushlight import _C
from rushlight._grad_mode import enable_grad
from rushlight.autograd import grad as _gradient
from rushlight.nn import functional as F


def _of(convolution, arguments, at, size, grad_output, options):
    """The gradient of argument `at` of a convolution, of which only the size matters."""
    recorded = _C.is_grad_enabled()
    with enable_grad():
        like = arguments[1 - at]
        given = _C.zeros(size, dtype=like.dtype, device=like.device, requires_grad=True)
        operands = (given, like) if at == 0 else (like, given)
        result = convolution(*operands, None, *options)
        return _gradient(result, given, grad_output, create_graph=recorded)[0]


def conv1d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv1d() by its input.

    Args:
        input_size: the sizes of the input.
        weight: the weight of conv1d().
        grad_output: the gradient of the result.
        stride, padding, dilation, groups: as of conv1d().

    Shape: input_size.

    >>> one = torch.ones(1, 1, 1)
    >>> torch.nn.grad.conv1d_input(one.shape, one, one).shape == one.shape
    True
    """
    options = (stride, padding, dilation, groups)
    return _of(F.conv1d, (None, weight), 0, input_size, grad_output, options)


def conv1d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv1d() by its weight.

    Args:
        input: the input of conv1d().
        weight_size: the sizes of the weight.
        grad_output: the gradient of the result.
        stride, padding, dilation, groups: as of conv1d().

    Shape: weight_size.

    >>> one = torch.ones(1, 1, 1)
    >>> torch.nn.grad.conv1d_weight(one, one.shape, one).shape == one.shape
    True
    """
    options = (stride, padding, dilation, groups)
    return _of(F.conv1d, (input, None), 1, weight_size, grad_output, options)


def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv2d() by its input.

    Args:
        input_size: the sizes of the input.
        weight: the weight of conv2d().
        grad_output: the gradient of the result.
        stride, padding, dilation, groups: as of conv2d().

    Shape: input_size.

    >>> one = torch.ones(1, 1, 1, 1)
    >>> torch.nn.grad.conv2d_input(one.shape, one, one).shape == one.shape
    True
    """
    options = (stride, padding, dilation, groups)
    return _of(F.conv2d, (None, weight), 0, input_size, grad_output, options)


def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv2d() by its weight.

    Args:
        input: the input of conv2d().
        weight_size: the sizes of the weight.
        grad_output: the gradient of the result.
        stride, padding, dilation, groups: as of conv2d().

    Shape: weight_size.

    >>> one = torch.ones(1, 1, 1, 1)
    >>> torch.nn.grad.conv2d_weight(one, one.shape, one).shape == one.shape
    True
    """
    options = (stride, padding, dilation, groups)
    return _of(F.conv2d, (input, None), 1, weight_size, grad_output, options)


def conv3d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv3d() by its input.

    Args:
        input_size: the sizes of the input.
        weight: the weight of conv3d().
        grad_output: the gradient of the result.
        stride, padding, dilation, groups: as of conv3d().

    Shape: input_size.

    >>> one = torch.ones(1, 1, 1, 1, 1)
    >>> torch.nn.grad.conv3d_input(one.shape, one, one).shape == one.shape
    True
    """
    options = (stride, padding, dilation, groups)
    return _of(F.conv3d, (None, weight), 0, input_size, grad_output, options)


def conv3d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv3d() by its weight.

    Args:
        input: the input of conv3d().
        weight_size: the sizes of the weight.
        grad_output: the gradient of the result.
        stride, padding, dilation, groups: as of conv3d().

    Shape: weight_size.

    >>> one = torch.ones(1, 1, 1, 1, 1)
    >>> torch.nn.grad.conv3d_weight(one, one.shape, one).shape == one.shape
    True
    """
    options = (stride, padding, dilation, groups)
    return _of(F.conv3d, (input, None), 1, weight_size, grad_output, options)
