"""Convolution layers; the transposed ones come from conv_transpose.py."""

from rushlight import _C
from rushlight.nn.common_types import _size_1_t, _size_2_t, _size_3_t  # noqa: F401 - torch's too
from rushlight.nn.modules._class_path import settle
from rushlight.nn.modules._conv_base import LazyConv, _ConvNd
from rushlight.nn.modules.conv_transpose import (
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    LazyConvTranspose1d,
    LazyConvTranspose2d,
    LazyConvTranspose3d,
    _ConvTransposeNd,  # noqa: F401 - torch has it here
)
from rushlight.nn.modules.utils import per_dimension

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]


class _PlainConv(_ConvNd):
    rank = 0

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1,
        bias=True, padding_mode="zeros", device=None, dtype=None,
    ):  # fmt: skip
        n = self.rank
        super().__init__(
            in_channels, out_channels, per_dimension(kernel_size, n), per_dimension(stride, n),
            padding if isinstance(padding, str) else per_dimension(padding, n),
            per_dimension(dilation, n), False, (0,) * n, groups, bias, padding_mode, device, dtype,
        )  # fmt: skip


class Conv1d(_PlainConv):
    """Cross-correlation of a signal with learned filters, plus a bias.

    Args: as of Conv2d.

    Shape: (n, in_channels, l) to (n, out_channels, l'), with or without n; l' as h' of Conv2d.

    >>> torch.nn.Conv1d(16, 33, 3, stride=2)(torch.ones(20, 16, 50)).shape
    torch.Size([20, 33, 24])
    """

    rank = 1

    def _conv_forward(self, input, weight, bias):
        return self._convolve(_C.conv1d, input, weight, bias)


class Conv2d(_PlainConv):
    """Cross-correlation of an image with learned filters, plus a bias.

    Args:
        in_channels, out_channels: channels of the input and the output.
        kernel_size: height and width of the filters; here and below one int for both.
        stride: step between windows.
        padding: pixels added at each edge; or "same" (output as large as input), or "valid" (none).
        dilation: step between the elements of a window.
        groups: the channels are split into so many independent convolutions.
        bias: whether there is a bias for each output channel.
        padding_mode: "zeros", "reflect", "replicate" or "circular".
        device, dtype: of the parameters.

    Shape: (n, in_channels, h, w) or without n; weight (out_channels, in_channels / groups, kh, kw);
    h' = (h + 2 padding - dilation (kernel - 1) - 1) // stride + 1.

    >>> torch.nn.Conv2d(16, 33, (3, 5), padding=(1, 2))(torch.ones(2, 16, 8, 8)).shape
    torch.Size([2, 33, 8, 8])
    """

    rank = 2

    def forward(self, input):
        if self.padding_mode == "zeros":
            return _C.conv2d(
                input, self.weight, self.bias, self.stride, self.padding, self.dilation,
                self.groups,
            )  # fmt: skip
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input, weight, bias):
        return self._convolve(_C.conv2d, input, weight, bias)


class Conv3d(_PlainConv):
    """Cross-correlation of a volume with learned filters, plus a bias.

    Args: as of Conv2d.

    Shape: (n, in_channels, d, h, w) to (n, out_channels, d', h', w'), with or without n; sizes as
    of Conv2d.

    >>> torch.nn.Conv3d(2, 3, 3).weight.shape
    torch.Size([3, 2, 3, 3, 3])
    """

    rank = 3

    def _conv_forward(self, input, weight, bias):
        return self._convolve(_C.conv3d, input, weight, bias)


class LazyConv1d(LazyConv, Conv1d):
    """A Conv1d whose `in_channels` is taken from the first input.

    Args: as of Conv2d.

    Shape: (n, in_channels, l) to (n, out_channels, l').

    >>> torch.nn.LazyConv1d(4, 3)(torch.ones(1, 2, 5)).shape
    torch.Size([1, 4, 3])
    """

    cls_to_become = Conv1d


class LazyConv2d(LazyConv, Conv2d):
    """A Conv2d whose `in_channels` is taken from the first input.

    Args: as of Conv2d.

    Shape: (n, in_channels, h, w) to (n, out_channels, h', w').

    >>> layer = torch.nn.LazyConv2d(8, 3)
    >>> layer(torch.ones(1, 2, 5, 5)).shape, layer.in_channels
    (torch.Size([1, 8, 3, 3]), 2)
    """

    cls_to_become = Conv2d


class LazyConv3d(LazyConv, Conv3d):
    """A Conv3d whose `in_channels` is taken from the first input.

    Args: as of Conv2d.

    Shape: (n, in_channels, d, h, w) to (n, out_channels, d', h', w').

    >>> torch.nn.LazyConv3d(4, 3)(torch.ones(1, 2, 3, 3, 5)).shape
    torch.Size([1, 4, 1, 1, 3])
    """

    cls_to_become = Conv3d


settle(globals())
