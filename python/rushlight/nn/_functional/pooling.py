"""Pooling. The max functions return indices too when asked."""

from rushlight import _C

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices", "lp_pool1d", "lp_pool2d",
    "max_pool1d", "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices",
    "max_pool3d", "max_pool3d_with_indices",
]  # fmt: skip


def _max_pool(rank):
    name = f"max_pool{rank}d"
    plain_name, indices_name = name, name + "_with_indices"

    def with_indices(
        input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
        return_indices=False,
    ):  # fmt: skip
        stride = kernel_size if stride is None else stride
        op = getattr(_C, indices_name)
        return op(input, kernel_size, stride, padding, dilation, ceil_mode)

    def plain(
        input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
        return_indices=False,
    ):  # fmt: skip
        stride = kernel_size if stride is None else stride
        op = getattr(_C, indices_name if return_indices else plain_name)
        return op(input, kernel_size, stride, padding, dilation, ceil_mode)

    plain.__name__ = plain.__qualname__ = plain_name
    with_indices.__name__ = with_indices.__qualname__ = indices_name
    plain.__doc__ = (
        f"The maximum of each window of a {rank}-d input.\n\n"
        "    Args:\n        return_indices: return also where each maximum was, as flat indices."
    )
    with_indices.__doc__ = f"{plain_name} and the flat index of each maximum."
    return plain, with_indices


max_pool1d, max_pool1d_with_indices = _max_pool(1)
max_pool2d, max_pool2d_with_indices = _max_pool(2)
max_pool3d, max_pool3d_with_indices = _max_pool(3)


def _full_size(output_size, input, rank):
    """The output size with None replaced by the input's."""
    if isinstance(output_size, int) or rank == 1:
        return output_size
    if len(output_size) != rank:
        raise ValueError("Input dimension should be at least " + str(len(output_size) + 1))
    own = input.shape[-rank:]
    return [have if want is None else want for want, have in zip(output_size, own, strict=False)]


def adaptive_avg_pool1d(input, output_size):
    """Averages of windows chosen so that the output has the size wanted.

    >>> torch.nn.functional.adaptive_avg_pool1d(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), 2)
    tensor([[1.5000, 3.5000]])
    """
    return _C.adaptive_avg_pool1d(input, output_size)


def adaptive_avg_pool2d(input, output_size):
    """Averages of windows chosen so that the output is (h, w); None keeps the input's."""
    return _C.adaptive_avg_pool2d(input, _full_size(output_size, input, 2))


def adaptive_avg_pool3d(input, output_size):
    """Averages of windows chosen so that the output is (d, h, w); None keeps the input's."""
    return _C.adaptive_avg_pool3d(input, _full_size(output_size, input, 3))


def adaptive_max_pool1d_with_indices(input, output_size, return_indices=False):
    """adaptive_max_pool1d and the flat index of each maximum."""
    return _C.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool2d_with_indices(input, output_size, return_indices=False):
    """adaptive_max_pool2d and the flat index of each maximum."""
    return _C.adaptive_max_pool2d(input, _full_size(output_size, input, 2))


def adaptive_max_pool3d_with_indices(input, output_size, return_indices=False):
    """adaptive_max_pool3d and the flat index of each maximum."""
    return _C.adaptive_max_pool3d(input, _full_size(output_size, input, 3))


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """Maxima of windows chosen so that the output has the size wanted."""
    both = adaptive_max_pool1d_with_indices(input, output_size)
    return both if return_indices else both[0]


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """Maxima of windows chosen so that the output is (h, w); None keeps the input's."""
    both = adaptive_max_pool2d_with_indices(input, output_size)
    return both if return_indices else both[0]


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """Maxima of windows chosen so that the output is (d, h, w); None keeps the input's."""
    both = adaptive_max_pool3d_with_indices(input, output_size)
    return both if return_indices else both[0]


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of x^p over each window)^(1/p), p the norm type."""
    stride = kernel_size if stride is None else stride
    pooled = _C.avg_pool1d(input**norm_type, kernel_size, stride, 0, ceil_mode)
    return ((pooled.sign() * pooled.abs().relu()) * kernel_size) ** (1.0 / norm_type)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of x^p over each window)^(1/p), p the norm type."""
    kh, kw = (kernel_size, kernel_size) if isinstance(kernel_size, int) else kernel_size
    stride = kernel_size if stride is None else stride
    pooled = _C.avg_pool2d(input**norm_type, kernel_size, stride, 0, ceil_mode)
    return ((pooled.sign() * pooled.abs().relu()) * (kh * kw)) ** (1.0 / norm_type)
