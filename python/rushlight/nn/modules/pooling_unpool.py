"""Layers that undo max-pooling: attributes of pooling.py, as in torch."""

from rushlight.nn import functional as F
from rushlight.nn.common_types import _size_1_t, _size_2_t, _size_3_t
from rushlight.nn.modules.module import Module
from rushlight.nn.modules.utils import per_dimension

__all__ = [
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


class _MaxUnpoolNd(Module):
    rank = 0

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = per_dimension(kernel_size, self.rank)
        self.stride = per_dimension(kernel_size if stride is None else stride, self.rank)
        self.padding = per_dimension(padding, self.rank)

    def forward(self, input, indices, output_size=None):
        function = getattr(F, f"max_unpool{self.rank}d")
        return function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Puts values back where MaxPool1d with `return_indices` found them; all else is 0.

    Args: as of MaxUnpool2d.

    Shape: input and indices (n, c, l) or (c, l) to (n, c, l'), l' = (l - 1) stride - 2 padding +
    kernel_size, or as output_size says.

    >>> torch.nn.MaxUnpool1d(2)(torch.tensor([[3.0]]), torch.tensor([[1]]))
    tensor([[0., 3.]])
    """

    kernel_size: _size_1_t
    stride: _size_1_t
    padding: _size_1_t

    rank = 1


class MaxUnpool2d(_MaxUnpoolNd):
    """Puts values back where MaxPool2d with `return_indices` found them; all else is 0.

    Args:
        kernel_size, stride, padding: those of the pooling.

    Shape: input and indices (n, c, h, w) or (c, h, w) to (n, c, h', w'), h' = (h - 1) stride - 2
    padding + kernel_size, or as output_size says: the argument of `forward` that chooses among the
    sizes that pool to the same.

    >>> values, indices = torch.nn.MaxPool2d(2, return_indices=True)(torch.eye(2).unsqueeze(0))
    >>> torch.nn.MaxUnpool2d(2)(values, indices)
    tensor([[[1., 0.],
             [0., 0.]]])
    """

    kernel_size: _size_2_t
    stride: _size_2_t
    padding: _size_2_t

    rank = 2


class MaxUnpool3d(_MaxUnpoolNd):
    """Puts values back where MaxPool3d with `return_indices` found them; all else is 0.

    Args: as of MaxUnpool2d.

    Shape: input and indices (n, c, d, h, w) or (c, d, h, w) to (n, c, d', h', w'), or as
    output_size says.

    >>> torch.nn.MaxUnpool3d(2)
    MaxUnpool3d(kernel_size=(2, 2, 2), stride=(2, 2, 2), padding=(0, 0, 0))
    """

    kernel_size: _size_3_t
    stride: _size_3_t
    padding: _size_3_t

    rank = 3
