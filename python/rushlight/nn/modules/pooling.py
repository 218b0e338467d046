"""Pooling layers: maxima, averages and p-norms of windows."""

from rushlight import _C
from rushlight.nn import functional as F
from rushlight.nn.modules.module import Module

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "LPPool1d",
    "LPPool2d", "LPPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d",
]  # fmt: skip


class _MaxPoolNd(Module):
    rank = 0

    def __init__(
        self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False,
        ceil_mode=False,
    ):  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input):
        function = getattr(F, f"max_pool{self.rank}d")
        return function(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
            self.return_indices,
        )  # fmt: skip

    def extra_repr(self):
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The maximum of each window of a (n, c, l) signal.

    >>> torch.nn.MaxPool1d(2)(torch.tensor([[1.0, 2.0, 5.0, 3.0]]))
    tensor([[2., 5.]])
    """

    rank = 1


class MaxPool2d(_MaxPoolNd):
    """The maximum of each window of a (n, c, h, w) image.

    Args:
        stride: the kernel size when not given.
        padding: -inf is added at the edges.
        return_indices: return also where each maximum was, as flat index.
        ceil_mode: keep a last window that only partly fits.

    >>> torch.nn.MaxPool2d(2)(torch.arange(16.0).reshape(1, 4, 4))
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """

    rank = 2

    def forward(self, input):
        if self.return_indices:
            return super().forward(input)
        return _C.max_pool2d(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode
        )


class MaxPool3d(_MaxPoolNd):
    """The maximum of each window of a (n, c, d, h, w) volume.

    >>> torch.nn.MaxPool3d(2)
    MaxPool3d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
    """

    rank = 3


class AvgPool1d(Module):
    """The mean of each window of a (n, c, l) signal.

    >>> torch.nn.AvgPool1d(2)(torch.tensor([[1.0, 2.0, 5.0, 3.0]]))
    tensor([[1.5000, 4.0000]])
    """

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
    ):
        super().__init__()

        def single(value):
            return tuple(value) if hasattr(value, "__iter__") else (value,)

        self.kernel_size = single(kernel_size)
        self.stride = single(stride if stride is not None else kernel_size)
        self.padding = single(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input):
        return _C.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad,
        )  # fmt: skip

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AvgPoolNd(Module):
    rank = 0

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
        divisor_override=None,
    ):  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input):
        return getattr(F, f"avg_pool{self.rank}d")(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad, self.divisor_override,
        )  # fmt: skip

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_AvgPoolNd):
    """The mean of each window of a (n, c, h, w) image.

    Args:
        count_include_pad: count the zeros at the edges in the mean.
        divisor_override: divide by this instead of the window's size.

    >>> torch.nn.AvgPool2d(2)(torch.arange(16.0).reshape(1, 4, 4))
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """

    rank = 2


class AvgPool3d(_AvgPoolNd):
    """The mean of each window of a (n, c, d, h, w) volume.

    >>> torch.nn.AvgPool3d(2)
    AvgPool3d(kernel_size=2, stride=2, padding=0)
    """

    rank = 3


class _LPPoolNd(Module):
    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def extra_repr(self):
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The p-norm of each window of a (n, c, l) signal.

    >>> torch.nn.LPPool1d(2, 2)(torch.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """

    def forward(self, input):
        return F.lp_pool1d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool2d(_LPPoolNd):
    """The p-norm of each window of a (n, c, h, w) image.

    >>> torch.nn.LPPool2d(1, 2)(torch.ones(1, 2, 2))
    tensor([[[4.]]])
    """

    def forward(self, input):
        return F.lp_pool2d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool3d(_LPPoolNd):
    """The p-norm of each window of a (n, c, d, h, w) volume.

    >>> torch.nn.LPPool3d(1, 2)(torch.ones(1, 2, 2, 2))
    tensor([[[[8.]]]])
    """

    def forward(self, input):
        return F.lp_pool3d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class _AdaptiveAvgPoolNd(Module):
    rank = 0

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        return getattr(F, f"adaptive_avg_pool{self.rank}d")(input, self.output_size)

    def extra_repr(self):
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Means of windows chosen so that the output has length `output_size`.

    >>> torch.nn.AdaptiveAvgPool1d(2)(torch.tensor([[1.0, 2.0, 5.0, 3.0]]))
    tensor([[1.5000, 4.0000]])
    """

    rank = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Means of windows chosen so that the output is (h, w); None keeps the input's size.

    >>> torch.nn.AdaptiveAvgPool2d((1, None))(torch.ones(8, 5, 7)).shape
    torch.Size([8, 1, 7])
    """

    rank = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Means of windows chosen so that the output is (d, h, w).

    >>> torch.nn.AdaptiveAvgPool3d(1)
    AdaptiveAvgPool3d(output_size=1)
    """

    rank = 3


class _AdaptiveMaxPoolNd(Module):
    rank = 0

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input):
        function = getattr(F, f"adaptive_max_pool{self.rank}d")
        return function(input, self.output_size, self.return_indices)

    def extra_repr(self):
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Maxima of windows chosen so that the output has length `output_size`.

    >>> torch.nn.AdaptiveMaxPool1d(2)(torch.tensor([[1.0, 2.0, 5.0, 3.0]]))
    tensor([[2., 5.]])
    """

    rank = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Maxima of windows chosen so that the output is (h, w); None keeps the input's size.

    >>> torch.nn.AdaptiveMaxPool2d((1, None))(torch.ones(8, 5, 7)).shape
    torch.Size([8, 1, 7])
    """

    rank = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Maxima of windows chosen so that the output is (d, h, w).

    >>> torch.nn.AdaptiveMaxPool3d(1)
    AdaptiveMaxPool3d(output_size=1)
    """

    rank = 3
