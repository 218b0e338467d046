"""torch.conv_tbc: a convolution over time whose dimensions are in another order."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import op

__all__ = ["conv_tbc"]


@op("torch")
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0):
    """conv1d() of a sequence whose first dimension is time.

    Args:
        input: (time, batch, channels).
        weight: (width, channels, out channels).
        bias: (out channels,).
        pad: zeros before and after the time.

    Shape: the result is (time + 2 pad - width + 1, batch, out channels).

    >>> torch.conv_tbc(torch.ones(4, 1, 2), torch.ones(3, 2, 1), torch.zeros(1)).flatten()
    tensor([6., 6.])
    """
    if input.dim() != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.dim() != 3:
        raise RuntimeError(
            "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels."
        )
    if bias.dim() != 1:
        raise RuntimeError("Bias must be 1-D")
    if input.size(2) != weight.size(1):
        raise RuntimeError(
            "Input dim 2 (input channels) is not == dim 1 in the weight tensor\n"
            f"conv_tbc(): input {tuple(input.shape)}, weight {tuple(weight.shape)}"
        )
    if bias.size(0) != weight.size(2):
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    by_channel = _C.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return by_channel.permute(2, 0, 1).contiguous()
