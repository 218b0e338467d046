"""Values as integers of few bits would keep them, with gradients, for training aware of it."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import Number, op

__all__ = ["dequantize", "fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine"]


@op("torch", "Tensor")
def dequantize(input: Tensor):
    """A float32 tensor of the same values: no tensor here is quantized.

    Shape: any, kept.

    >>> torch.dequantize(torch.tensor([1, 2]))
    tensor([1., 2.])
    """
    return input.to(_C.float32)


def _check_range(low, high):
    if low > high:
        raise RuntimeError("`quant_min` should be less than or equal to `quant_max`.")


def _rounded(input, scale, zero_point, low, high):
    """The gradient is that of the input where it is in range, and 0 elsewhere."""
    whole = _C.round(input.detach() * (1 / scale)) + zero_point
    kept = _C.where((whole >= low) & (whole <= high), input, 0.0)
    value = (whole.clamp(low, high) - zero_point) * scale
    return value + (kept - kept.detach())


@op("torch")
def fake_quantize_per_tensor_affine(
    input: Tensor,
    scale: Tensor | Number,
    zero_point: Tensor | Number,
    quant_min: int,
    quant_max: int,
) -> Tensor:
    """(clamp(round(input / scale) + zero_point, quant_min, quant_max) - zero_point) * scale

    Args:
        scale: the step between two values, a number or a tensor of one.
        zero_point: the integer that stands for 0.
        quant_min: the least integer.
        quant_max: the largest.

    Shape: that of input.

    Raises:
        RuntimeError: if quant_min is above quant_max, or zero_point is not between them.

    >>> torch.fake_quantize_per_tensor_affine(torch.tensor([0.26, -1.0]), 0.5, 0, 0, 255)
    tensor([0.5000, 0.0000])
    """
    _check_range(quant_min, quant_max)
    if not isinstance(zero_point, Tensor) and not quant_min <= zero_point <= quant_max:
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
    if not isinstance(scale, Tensor):
        scale = _C.tensor(scale, dtype=_C.float32, device=input.device)
    return _rounded(input, scale, zero_point, quant_min, quant_max)


@op("torch")
def fake_quantize_per_channel_affine(
    input: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    """fake_quantize_per_tensor_affine with a scale and a zero point for each index along an axis.

    Args:
        scale: one for each index.
        zero_point: one for each index, int32 or floating point.
        axis: the axis.
        quant_min: the least integer.
        quant_max: the largest.

    Shape: that of input; scale and zero_point have input.size(axis) elements.

    Raises:
        RuntimeError: if a size does not fit, axis is negative, or quant_min is above quant_max.

    >>> x = torch.tensor([[0.26, 1.2]])
    >>> steps = torch.tensor([0.5, 1.0])
    >>> zeros = torch.zeros(2, dtype=torch.int32)
    >>> torch.fake_quantize_per_channel_affine(x, steps, zeros, 1, 0, 255)
    tensor([[0.5000, 1.0000]])
    """
    _check_range(quant_min, quant_max)
    if scale.dim() != 1 or zero_point.dim() != 1:
        raise RuntimeError("scale and zero point should be 1-D tensors")
    if scale.numel() != zero_point.numel():
        raise RuntimeError("scale and zero-point need to have the same dimensions")
    if scale.numel() != input.size(axis):
        raise RuntimeError(
            "dimensions of scale and zero-point are not consistent with input tensor\n"
            f"input.size({axis}) is {input.size(axis)}, and there are {scale.numel()} scales"
        )
    if axis < 0:
        raise RuntimeError("`axis` must be between 0 and number of dimensions of input")
    shape = (1,) * axis + (-1,) + (1,) * (input.dim() - axis - 1)
    return _rounded(input, scale.view(shape), zero_point.view(shape), quant_min, quant_max)
