"""Pooling layers: maxima, averages and p-norms of windows; the others come from pooling_*.py."""

from rushlight import _C
from rushlight.nn import functional as F
from rushlight.nn.common_types import _size_1_t, _size_2_t, _size_3_t
from rushlight.nn.modules._class_path import settle
from rushlight.nn.modules.module import Module
from rushlight.nn.modules.pooling_adaptive import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    FractionalMaxPool2d,
    FractionalMaxPool3d,
    _AdaptiveAvgPoolNd,  # noqa: F401 - torch has it here
    _AdaptiveMaxPoolNd,  # noqa: F401 - torch has it here
)
from rushlight.nn.modules.pooling_unpool import (
    MaxUnpool1d,
    MaxUnpool2d,
    MaxUnpool3d,
    _MaxUnpoolNd,  # noqa: F401 - torch has it here
)
from rushlight.nn.modules.utils import _single

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


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
    """The maximum of each window of a signal.

    Args: as of MaxPool2d.

    Shape: (n, c, l) or (c, l) to (n, c, l'), l' as h' of MaxPool2d.

    >>> torch.nn.MaxPool1d(2)(torch.tensor([[1.0, 2.0, 5.0, 3.0]]))
    tensor([[2., 5.]])
    """

    kernel_size: _size_1_t
    stride: _size_1_t
    padding: _size_1_t
    dilation: _size_1_t

    rank = 1


class MaxPool2d(_MaxPoolNd):
    """The maximum of each window of an image.

    Args:
        kernel_size: size of a window; here and below an int, or (height, width).
        stride: step between windows; kernel_size if None.
        padding: -inf added at each edge, at most half of kernel_size.
        dilation: step between the elements of a window.
        return_indices: return also the index of each maximum in the flattened image, for
            MaxUnpool2d.
        ceil_mode: keep a last window that only partly fits.

    Shape: (n, c, h, w) or (c, h, w) to (n, c, h', w'), h' = floor((h + 2 padding - dilation
    (kernel_size - 1) - 1) / stride + 1), ceil with ceil_mode.

    >>> torch.nn.MaxPool2d(2)(torch.arange(16.0).reshape(1, 4, 4))
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """

    kernel_size: _size_2_t
    stride: _size_2_t
    padding: _size_2_t
    dilation: _size_2_t

    rank = 2

    def forward(self, input):
        if self.return_indices:
            return super().forward(input)
        return _C.max_pool2d(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode
        )


class MaxPool3d(_MaxPoolNd):
    """The maximum of each window of a volume.

    Args: as of MaxPool2d.

    Shape: (n, c, d, h, w) or (c, d, h, w) to (n, c, d', h', w'), sizes as of MaxPool2d.

    >>> torch.nn.MaxPool3d(2)
    MaxPool3d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
    """

    kernel_size: _size_3_t
    stride: _size_3_t
    padding: _size_3_t
    dilation: _size_3_t

    rank = 3


class AvgPool1d(Module):
    """The mean of each window of a signal.

    Args: as of AvgPool2d.

    Shape: (n, c, l) or (c, l) to (n, c, l'), l' as h' of AvgPool2d.

    >>> torch.nn.AvgPool1d(2)(torch.tensor([[1.0, 2.0, 5.0, 3.0]]))
    tensor([[1.5000, 4.0000]])
    """

    kernel_size: _size_1_t
    stride: _size_1_t
    padding: _size_1_t
    ceil_mode: bool
    count_include_pad: bool

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
    ):
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = _single(stride if stride is not None else kernel_size)
        self.padding = _single(padding)
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
    """The mean of each window of an image.

    Args:
        kernel_size: size of a window; here and below an int, or (height, width).
        stride: step between windows; kernel_size if None.
        padding: zeros added at each edge, at most half of kernel_size.
        ceil_mode: keep a last window that only partly fits.
        count_include_pad: count the zeros at the edges in the mean.
        divisor_override: divide by this instead of the window's size.

    Shape: (n, c, h, w) or (c, h, w) to (n, c, h', w'), h' = floor((h + 2 padding - kernel_size) /
    stride + 1), ceil with ceil_mode.

    >>> torch.nn.AvgPool2d(2)(torch.arange(16.0).reshape(1, 4, 4))
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """

    kernel_size: _size_2_t
    stride: _size_2_t
    padding: _size_2_t
    ceil_mode: bool
    count_include_pad: bool

    rank = 2


class AvgPool3d(_AvgPoolNd):
    """The mean of each window of a volume.

    Args: as of AvgPool2d.

    Shape: (n, c, d, h, w) or (c, d, h, w) to (n, c, d', h', w'), sizes as of AvgPool2d.

    >>> torch.nn.AvgPool3d(2)
    AvgPool3d(kernel_size=2, stride=2, padding=0)
    """

    kernel_size: _size_3_t
    stride: _size_3_t
    padding: _size_3_t
    ceil_mode: bool
    count_include_pad: bool

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
    """The p-norm of each window of a signal: (sum x^p)^(1/p).

    Args: as of LPPool2d.

    Shape: (n, c, l) or (c, l) to (n, c, l'), l' as h' of LPPool2d.

    >>> torch.nn.LPPool1d(2, 2)(torch.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """

    kernel_size: _size_1_t
    stride: _size_1_t

    def forward(self, input):
        return F.lp_pool1d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool2d(_LPPoolNd):
    """The p-norm of each window of an image: (sum x^p)^(1/p).

    Args:
        norm_type: p; 1 is sum-pooling, infinity would be max-pooling.
        kernel_size: size of a window, an int or (height, width).
        stride: step between windows; kernel_size if None.
        ceil_mode: keep a last window that only partly fits.

    Shape: (n, c, h, w) or (c, h, w) to (n, c, h', w'), h' = floor((h - kernel_size) / stride + 1).

    >>> torch.nn.LPPool2d(1, 2)(torch.ones(1, 2, 2))
    tensor([[[4.]]])
    """

    kernel_size: _size_2_t
    stride: _size_2_t

    def forward(self, input):
        return F.lp_pool2d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool3d(_LPPoolNd):
    """The p-norm of each window of a volume: (sum x^p)^(1/p).

    Args: as of LPPool2d.

    Shape: (n, c, d, h, w) or (c, d, h, w) to (n, c, d', h', w'), sizes as of LPPool2d.

    >>> torch.nn.LPPool3d(1, 2)(torch.ones(1, 2, 2, 2))
    tensor([[[[8.]]]])
    """

    kernel_size: _size_3_t
    stride: _size_3_t

    def forward(self, input):
        return F.lp_pool3d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


settle(globals())
