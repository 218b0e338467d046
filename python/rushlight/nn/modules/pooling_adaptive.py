"""Pooling whose windows follow from the output's size: adaptive, and fractional with random
windows. Attributes of pooling.py, as in torch.
"""

from rushlight.nn import functional as F
from rushlight.nn.common_types import (
    _ratio_2_t,
    _ratio_3_t,
    _size_1_t,
    _size_2_opt_t,
    _size_2_t,
    _size_3_opt_t,
    _size_3_t,
)
from rushlight.nn.modules.module import Module
from rushlight.nn.modules.utils import per_dimension

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
]


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

    Args:
        output_size: length of the output.

    Shape: (n, c, l) or (c, l) to (n, c, output_size).

    >>> torch.nn.AdaptiveAvgPool1d(2)(torch.tensor([[1.0, 2.0, 5.0, 3.0]]))
    tensor([[1.5000, 4.0000]])
    """

    output_size: _size_1_t

    rank = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Means of windows chosen so that the output is `output_size`.

    Args:
        output_size: (h', w') or one int; None keeps the input's size.

    Shape: (n, c, h, w) or (c, h, w) to (n, c, h', w').

    >>> torch.nn.AdaptiveAvgPool2d((1, None))(torch.ones(8, 5, 7)).shape
    torch.Size([8, 1, 7])
    """

    output_size: _size_2_opt_t

    rank = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Means of windows chosen so that the output is `output_size`.

    Args:
        output_size: (d', h', w') or one int; None keeps the input's size.

    Shape: (n, c, d, h, w) or (c, d, h, w) to (n, c, d', h', w').

    >>> torch.nn.AdaptiveAvgPool3d(1)
    AdaptiveAvgPool3d(output_size=1)
    """

    output_size: _size_3_opt_t

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

    Args:
        output_size: length of the output.
        return_indices: return also the index of each maximum.

    Shape: (n, c, l) or (c, l) to (n, c, output_size).

    >>> torch.nn.AdaptiveMaxPool1d(2)(torch.tensor([[1.0, 2.0, 5.0, 3.0]]))
    tensor([[2., 5.]])
    """

    output_size: _size_1_t

    rank = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Maxima of windows chosen so that the output is `output_size`.

    Args:
        output_size: (h', w') or one int; None keeps the input's size.
        return_indices: return also the index of each maximum in the flattened image.

    Shape: (n, c, h, w) or (c, h, w) to (n, c, h', w').

    >>> torch.nn.AdaptiveMaxPool2d((1, None))(torch.ones(8, 5, 7)).shape
    torch.Size([8, 1, 7])
    """

    output_size: _size_2_opt_t

    rank = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Maxima of windows chosen so that the output is `output_size`.

    Args:
        output_size: (d', h', w') or one int; None keeps the input's size.
        return_indices: return also the index of each maximum in the flattened volume.

    Shape: (n, c, d, h, w) or (c, d, h, w) to (n, c, d', h', w').

    >>> torch.nn.AdaptiveMaxPool3d(1)
    AdaptiveMaxPool3d(output_size=1)
    """

    output_size: _size_3_opt_t

    rank = 3


class _FractionalMaxPoolNd(Module):
    rank = 0

    def __init__(
        self, kernel_size, output_size=None, output_ratio=None, return_indices=False,
        _random_samples=None,
    ):  # fmt: skip
        super().__init__()
        own, rank = type(self).__name__, self.rank
        self.kernel_size = per_dimension(kernel_size, rank)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else per_dimension(output_size, rank)
        self.output_ratio = None if output_ratio is None else per_dimension(output_ratio, rank)
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
    """Maxima of windows whose positions are drawn at random (Graham, 2014).

    Args:
        kernel_size: size of a window, an int or (height, width).
        output_size: (h', w') of the output; or
        output_ratio: the same as a fraction of the input's, between 0 and 1.
        return_indices: return also the index of each maximum in the flattened image.

    Shape: (n, c, h, w) or (c, h, w) to (n, c, h', w').

    >>> torch.nn.FractionalMaxPool2d(2, output_ratio=0.5)(torch.ones(1, 8, 6)).shape
    torch.Size([1, 4, 3])
    """

    kernel_size: _size_2_t
    return_indices: bool
    output_size: _size_2_t
    output_ratio: _ratio_2_t

    rank = 2


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """Maxima of windows of a volume whose positions are drawn at random.

    Args: as of FractionalMaxPool2d.

    Shape: (n, c, d, h, w) or (c, d, h, w) to (n, c, d', h', w').

    >>> torch.nn.FractionalMaxPool3d(2, output_size=3)(torch.ones(1, 8, 6, 7)).shape
    torch.Size([1, 3, 3, 3])
    """

    kernel_size: _size_3_t
    return_indices: bool
    output_size: _size_3_t
    output_ratio: _ratio_3_t

    rank = 3
