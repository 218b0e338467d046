"""Batch normalisation folded into the layer before it, for inference."""

import copy

from rushlight import _C
from rushlight.nn.parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
]  # fmt: skip


def _fused(weight, bias, mean, var, eps, scale, shift, shape):
    """The parameters of a layer that does what it and the normalisation after it do."""
    dtype = weight.dtype
    bias_dtype = dtype if bias is None else bias.dtype
    needs_grad = weight.requires_grad, bias is not None and bias.requires_grad
    bias = _C.zeros_like(mean) if bias is None else bias
    scale = _C.ones_like(mean) if scale is None else scale
    shift = _C.zeros_like(mean) if shift is None else shift
    factor = scale * _C.rsqrt(var + eps)
    made = (weight * factor.reshape(shape)).to(dtype=dtype)
    made_bias = ((bias - mean) * factor + shift).to(dtype=bias_dtype)
    return Parameter(made.detach(), needs_grad[0]), Parameter(made_bias.detach(), needs_grad[1])


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """Weight and bias of a convolution with the batch normalisation after it folded in.

    Args:
        conv_w, conv_b: of the convolution; the bias may be None.
        bn_rm, bn_rv, bn_eps: running mean and variance, and what is added to the variance.
        bn_w, bn_b: of the normalisation; they may be None.
        transpose: the convolution is a transposed one.

    >>> one, zero = torch.ones(1), torch.zeros(1)
    >>> weight, bias = torch.nn.utils.fuse_conv_bn_weights(
    ...     torch.ones(1, 1, 1), zero, one, one * 3, 1.0, one, zero
    ... )
    >>> weight.item(), bias.item()
    (0.5, -0.5)
    """
    ones = [1] * (conv_w.dim() - 2)
    shape = [1, -1, *ones] if transpose else [-1, 1, *ones]
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def _check(layer, bn):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A copy of a convolution that normalises too; both must be in eval mode.

    Args:
        conv: the convolution.
        bn: the batch normalisation after it.
        transpose: the convolution is a transposed one.

    Raises:
        AssertionError: if one of them is in training mode, or bn has no running statistics.

    >>> conv, bn = torch.nn.Conv2d(3, 4, 1).eval(), torch.nn.BatchNorm2d(4).eval()
    >>> x = torch.rand(2, 3, 5, 5)
    >>> torch.allclose(torch.nn.utils.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-5)
    True
    """
    _check(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias,
        transpose,
    )  # fmt: skip
    return fused


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """Weight and bias of a linear layer with the batch normalisation after it folded in.

    Args:
        linear_w, linear_b: of the layer; the bias may be None.
        bn_rm, bn_rv, bn_eps: running mean and variance, and what is added to the variance.
        bn_w, bn_b: of the normalisation.

    >>> one, zero = torch.ones(1), torch.zeros(1)
    >>> weight, bias = torch.nn.utils.fuse_linear_bn_weights(
    ...     torch.ones(1, 1), zero, one, one * 3, 1.0, one, zero
    ... )
    >>> weight.item(), bias.item()
    (0.5, -0.5)
    """
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def fuse_linear_bn_eval(linear, bn):
    """A copy of a linear layer that normalises too; both must be in eval mode.

    Args:
        linear: the layer.
        bn: the batch normalisation after it, of as many features, or of one.

    Raises:
        AssertionError: if one of them is in training mode, bn has no running statistics, or the
            numbers of features differ.

    >>> linear, bn = torch.nn.Linear(3, 4).eval(), torch.nn.BatchNorm1d(4).eval()
    >>> x = torch.rand(5, 3)
    >>> torch.allclose(torch.nn.utils.fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)), atol=1e-5)
    True
    """
    _check(linear, bn)
    if bn.num_features not in (linear.out_features, 1):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused
