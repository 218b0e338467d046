"""Layers that undo max-pooling, and max-pooling at places drawn at random."""

from rushlight.nn import functional as F
from rushlight.nn.modules import pooling
from rushlight.nn.modules.module import Module

__all__ = [
    "FractionalMaxPool2d", "FractionalMaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
]  # fmt: skip


def _each(value, rank):
    return tuple(value) if hasattr(value, "__iter__") else (value,) * rank


class _MaxUnpoolNd(Module):
    rank = 0

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = _each(kernel_size, self.rank)
        self.stride = _each(kernel_size if stride is None else stride, self.rank)
        self.padding = _each(padding, self.rank)

    def forward(self, input, indices, output_size=None):
        function = getattr(F, f"max_unpool{self.rank}d")
        return function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Puts values back where MaxPool1d with `return_indices` found them; all else is 0.

    >>> torch.nn.MaxUnpool1d(2)(torch.tensor([[3.0]]), torch.tensor([[1]]))
    tensor([[0., 3.]])
    """

    rank = 1


class MaxUnpool2d(_MaxUnpoolNd):
    """Puts values back where MaxPool2d with `return_indices` found them; all else is 0.

    Args:
        kernel_size, stride, padding: those of the pooling.

    `forward` takes the `output_size` where several sizes pool to the same.

    >>> values, indices = torch.nn.MaxPool2d(2, return_indices=True)(torch.eye(2).unsqueeze(0))
    >>> torch.nn.MaxUnpool2d(2)(values, indices)
    tensor([[[1., 0.],
             [0., 0.]]])
    """

    rank = 2


class MaxUnpool3d(_MaxUnpoolNd):
    """Puts values back where MaxPool3d with `return_indices` found them; all else is 0.

    >>> torch.nn.MaxUnpool3d(2)
    MaxUnpool3d(kernel_size=(2, 2, 2), stride=(2, 2, 2), padding=(0, 0, 0))
    """

    rank = 3


class _FractionalMaxPoolNd(Module):
    rank = 0

    def __init__(
        self, kernel_size, output_size=None, output_ratio=None, return_indices=False,
        _random_samples=None,
    ):  # fmt: skip
        super().__init__()
        own, rank = type(self).__name__, self.rank
        self.kernel_size = _each(kernel_size, rank)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else _each(output_size, rank)
        self.output_ratio = None if output_ratio is None else _each(output_ratio, rank)
        if rank == 3 and min(self.kernel_size) <= 0:
            raise ValueError(f"kernel_size must be greater than zero, but got {kernel_size}")
        if output_size is None and output_ratio is None:
            raise ValueError(f"{own} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input):
        function = getattr(F, f"fractional_max_pool{self.rank}d")
        return function(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
            self._random_samples,
        )  # fmt: skip


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """Maxima of windows whose places are drawn at random (Graham, 2014).

    Args:
        kernel_size: of a window.
        output_size: the size wanted; or
        output_ratio: the size as a share of the input's, between 0 and 1.

    >>> torch.nn.FractionalMaxPool2d(2, output_ratio=0.5)(torch.ones(1, 8, 6)).shape
    torch.Size([1, 4, 3])
    """

    rank = 2


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """Maxima of windows of a volume whose places are drawn at random.

    >>> torch.nn.FractionalMaxPool3d(2, output_size=3)(torch.ones(1, 8, 6, 7)).shape
    torch.Size([1, 3, 3, 3])
    """

    rank = 3


for _name in __all__:
    globals()[_name].__module__ = pooling.__name__
    setattr(pooling, _name, globals()[_name])
