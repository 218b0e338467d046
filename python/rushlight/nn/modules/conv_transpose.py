"""Transposed convolutions: the gradient of a convolution as a layer of its own.

Attributes of conv.py, as in torch.
"""

from rushlight import _C
from rushlight.nn.modules._conv_base import LazyConv, _ConvNd
from rushlight.nn.modules.utils import per_dimension

__all__ = [
    "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LazyConvTranspose1d",
    "LazyConvTranspose2d", "LazyConvTranspose3d",
]  # fmt: skip


class _ConvTransposeNd(_ConvNd):
    rank = 0

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0,
        groups=1, bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None,
    ):  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        n = self.rank
        super().__init__(
            in_channels, out_channels, per_dimension(kernel_size, n), per_dimension(stride, n),
            per_dimension(padding, n), per_dimension(dilation, n), True,
            per_dimension(output_padding, n), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input, output_size=None):
        """The transposed convolution of `input`; `output_size` chooses among the sizes from which
        the convolution gives the input's.
        """
        extra = self._output_padding(input, output_size)
        op = getattr(_C, f"conv_transpose{self.rank}d")
        return op(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups,
            self.dilation,
        )  # fmt: skip

    def _output_padding(self, input, output_size):
        """The output_padding that gives `output_size`."""
        n = self.rank
        if output_size is None:
            return self.output_padding
        if len(output_size) == n + 2 and input.dim() == n + 2:
            output_size = output_size[2:]
        if len(output_size) == n + 1 and input.dim() == n + 1:
            output_size = output_size[1:]
        if len(output_size) != n:
            spatial, batched = n, input.dim() - n
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {spatial} "
                f"or {spatial + batched} elements (got {len(output_size)})"
            )
        least = [
            (input.size(i - n) - 1) * self.stride[i] - 2 * self.padding[i]
            + self.dilation[i] * (self.kernel_size[i] - 1) + 1
            for i in range(n)
        ]  # fmt: skip
        most = [size + stride - 1 for size, stride in zip(least, self.stride, strict=False)]
        if any(
            not low <= size <= high
            for low, size, high in zip(least, output_size, most, strict=False)
        ):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} "
                f"to {most} (for an input of {input.size()[input.dim() - n :]})"
            )
        return [size - low for size, low in zip(output_size, least, strict=False)]


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution of a signal: the gradient of Conv1d with respect to its input.

    Args: as of ConvTranspose2d.

    Shape: (n, in_channels, l) to (n, out_channels, l'), l' as h' of ConvTranspose2d.

    >>> torch.nn.ConvTranspose1d(16, 33, 3, stride=2)(torch.ones(20, 16, 50)).shape
    torch.Size([20, 33, 101])
    """

    rank = 1


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed convolution of an image: the gradient of Conv2d with respect to its input.

    Args:
        in_channels, out_channels: channels of the input and the output.
        kernel_size: height and width of the filters; here and below one int for both.
        stride: step between windows of the output.
        padding: pixels cut off at each edge of the output.
        output_padding: pixels added at the far edge of the output.
        groups: the channels are split into so many independent convolutions.
        bias: whether there is a bias for each output channel.
        dilation: step between the elements of a window.
        padding_mode: "zeros".
        device, dtype: of the parameters.

    Shape: (n, in_channels, h, w) to (n, out_channels, h', w'), h' = (h - 1) stride - 2 padding +
    dilation (kernel - 1) + output_padding + 1; weight (in_channels, out_channels / groups, kh, kw).

    >>> torch.nn.ConvTranspose2d(4, 2, 2, stride=2)(torch.ones(1, 4, 5, 5)).shape
    torch.Size([1, 2, 10, 10])
    """

    rank = 2


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed convolution of a volume: the gradient of Conv3d with respect to its input.

    Args: as of ConvTranspose2d.

    Shape: (n, in_channels, d, h, w) to (n, out_channels, d', h', w'), sizes as of ConvTranspose2d.

    >>> torch.nn.ConvTranspose3d(4, 2, 2).weight.shape
    torch.Size([4, 2, 2, 2, 2])
    """

    rank = 3


class LazyConvTranspose1d(LazyConv, ConvTranspose1d):
    """A ConvTranspose1d whose `in_channels` is taken from the first input.

    Args: as of ConvTranspose2d.

    Shape: (n, in_channels, l) to (n, out_channels, l').

    >>> torch.nn.LazyConvTranspose1d(4, 3)(torch.ones(1, 2, 5)).shape
    torch.Size([1, 4, 7])
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(LazyConv, ConvTranspose2d):
    """A ConvTranspose2d whose `in_channels` is taken from the first input.

    Args: as of ConvTranspose2d.

    Shape: (n, in_channels, h, w) to (n, out_channels, h', w').

    >>> torch.nn.LazyConvTranspose2d(4, 2)(torch.ones(1, 2, 5, 5)).shape
    torch.Size([1, 4, 6, 6])
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(LazyConv, ConvTranspose3d):
    """A ConvTranspose3d whose `in_channels` is taken from the first input.

    Args: as of ConvTranspose2d.

    Shape: (n, in_channels, d, h, w) to (n, out_channels, d', h', w').

    >>> torch.nn.LazyConvTranspose3d(4, 1)(torch.ones(1, 2, 1, 1, 5)).shape
    torch.Size([1, 4, 1, 1, 5])
    """

    cls_to_become = ConvTranspose3d
