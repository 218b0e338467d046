"""Pooling in one and two dimensions. The max functions return indices too when asked."""

import math

from rushlight import _C

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "lp_pool1d",
    "lp_pool2d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
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
    example = f"torch.nn.functional.{name}(torch.ones(1, {'4, ' * (rank - 1)}4), 2).shape"
    plain.__doc__ = (
        f"The maximum of each window of a {rank}-d input.\n\n"
        "    Args:\n        return_indices: return also where each maximum was, as flat indices."
        f"\n\n    >>> {example}\n    torch.Size([1, {'2, ' * (rank - 1)}2])\n    "
    )
    with_indices.__doc__ = (
        f"{plain_name} and the flat index of each maximum.\n\n    >>> "
        f"{example.replace('d(', 'd_with_indices(')[:-6]}[1].dtype\n    torch.int64\n    "
    )
    return plain, with_indices


max_pool1d, max_pool1d_with_indices = _max_pool(1)
max_pool2d, max_pool2d_with_indices = _max_pool(2)


def full_size(output_size, input, rank):
    """The output size with None replaced by the input's."""
    if isinstance(output_size, int) or rank == 1:
        return output_size
    if input.dim() <= len(output_size):
        raise ValueError(
            f"Input dimension should be at least {len(output_size) + 1}, got {input.dim()}"
        )
    if len(output_size) != rank:
        raise RuntimeError(
            f"adaptive pooling: output_size must be one int or {rank}, got {tuple(output_size)}"
        )
    own = input.shape[-rank:]
    return [have if want is None else want for want, have in zip(output_size, own, strict=False)]


def adaptive_avg_pool1d(input, output_size):
    """Averages of windows chosen so that the output has the size wanted.

    >>> torch.nn.functional.adaptive_avg_pool1d(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), 2)
    tensor([[1.5000, 3.5000]])
    """
    return _C.adaptive_avg_pool1d(input, output_size)


def adaptive_avg_pool2d(input, output_size):
    """Averages of windows chosen so that the output is (h, w); None keeps the input's.

    >>> torch.nn.functional.adaptive_avg_pool2d(torch.ones(1, 4, 4), (1, None)).shape
    torch.Size([1, 1, 4])
    """
    return _C.adaptive_avg_pool2d(input, full_size(output_size, input, 2))


def adaptive_max_pool1d_with_indices(input, output_size, return_indices=False):
    """adaptive_max_pool1d and the flat index of each maximum.

    >>> torch.nn.functional.adaptive_max_pool1d_with_indices(torch.tensor([[1.0, 2.0]]), 1)[1]
    tensor([[1]])
    """
    return _C.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool2d_with_indices(input, output_size, return_indices=False):
    """adaptive_max_pool2d and the flat index of each maximum.

    >>> torch.nn.functional.adaptive_max_pool2d_with_indices(torch.ones(1, 2, 2), 1)[1]
    tensor([[[0]]])
    """
    return _C.adaptive_max_pool2d(input, full_size(output_size, input, 2))


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """Maxima of windows chosen so that the output has the size wanted.

    >>> torch.nn.functional.adaptive_max_pool1d(torch.tensor([[1.0, 2.0, 5.0, 3.0]]), 2)
    tensor([[2., 5.]])
    """
    both = adaptive_max_pool1d_with_indices(input, output_size)
    return both if return_indices else both[0]


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """Maxima of windows chosen so that the output is (h, w); None keeps the input's.

    >>> torch.nn.functional.adaptive_max_pool2d(torch.ones(1, 4, 4), (1, None)).shape
    torch.Size([1, 1, 4])
    """
    both = adaptive_max_pool2d_with_indices(input, output_size)
    return both if return_indices else both[0]


def lp_sum(mean, count, norm_type):
    """(count * mean of x^p)^(1/p), and 0 where the mean is not positive."""
    return ((mean.sign() * mean.abs().relu()) * count) ** (1.0 / norm_type)


def lp_limit(max_pool, input, norm_type, kernel_size, stride, ceil_mode):
    """The pooling of an infinite norm; None for any other."""
    if norm_type == math.inf:
        return max_pool(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    if norm_type == -math.inf:
        return -max_pool(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    return None


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of x^p over each window)^(1/p), p the norm type.

    >>> torch.nn.functional.lp_pool1d(torch.tensor([[3.0, 4.0]]), 2, 2)
    tensor([[5.]])
    """
    stride = kernel_size if stride is None else stride
    limit = lp_limit(max_pool1d, input, norm_type, kernel_size, stride, ceil_mode)
    if limit is not None:
        return limit
    mean = _C.avg_pool1d(input**norm_type, kernel_size, stride, 0, ceil_mode)
    return lp_sum(mean, kernel_size, norm_type)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of x^p over each window)^(1/p), p the norm type.

    >>> torch.nn.functional.lp_pool2d(torch.ones(1, 2, 2), 1, 2)
    tensor([[[4.]]])
    """
    kh, kw = (kernel_size, kernel_size) if isinstance(kernel_size, int) else kernel_size
    stride = kernel_size if stride is None else stride
    limit = lp_limit(max_pool2d, input, norm_type, kernel_size, stride, ceil_mode)
    if limit is not None:
        return limit
    mean = _C.avg_pool2d(input**norm_type, kernel_size, stride, 0, ceil_mode)
    return lp_sum(mean, kh * kw, norm_type)
