"""Unfold and Fold: sliding windows as columns, and back."""

from rushlight.nn import functional as F
from rushlight.nn.common_types import _size_any_t
from rushlight.nn.modules.module import Module
from rushlight.nn.modules.utils import _pair

__all__ = ["Fold", "Unfold"]


class Unfold(Module):
    """Extracts every window as a column (im2col).

    Args:
        kernel_size, dilation, padding, stride: an int, or (height, width).

    Shape: (n, c, h, w) or (c, h, w) to (n, c * kh * kw, windows).

    >>> torch.nn.Unfold(2)(torch.ones(1, 3, 3, 3)).shape
    torch.Size([1, 12, 4])
    """

    kernel_size: _size_any_t
    dilation: _size_any_t
    padding: _size_any_t
    stride: _size_any_t

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input):
        sizes = (self.kernel_size, self.dilation, self.padding, self.stride)
        return F.unfold(input, *map(_pair, sizes))

    def extra_repr(self):
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )


class Fold(Module):
    """Adds every column back into its window (col2im): the adjoint of Unfold.

    Args:
        output_size: (h, w) of the result.
        kernel_size, dilation, padding, stride: an int, or (height, width).

    Shape: (n, c * kh * kw, windows) or (c * kh * kw, windows) to (n, c, h, w).

    >>> torch.nn.Fold((3, 3), 2)(torch.ones(1, 4, 4))[0, 0]
    tensor([[1., 2., 1.],
            [2., 4., 2.],
            [1., 2., 1.]])
    """

    output_size: _size_any_t
    kernel_size: _size_any_t
    dilation: _size_any_t
    padding: _size_any_t
    stride: _size_any_t

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input):
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self):
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, "
            f"dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
        )
