"""Pooling. The max functions return indices too when asked."""

from rushlight import _C
from rushlight._casts import casts

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "avg_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
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


def _triple(value):
    return (value,) * 3 if isinstance(value, int) else tuple(value)


def _in_two_steps(input, pool1d, pool2d):
    """A pooling of (d, h, w) windows as one of (h, w), then one of d: max and mean allow it."""
    batched = input.dim() == 5
    x = input if batched else input.unsqueeze(0)
    n, c, d = x.shape[:3]
    x = pool2d(x.flatten(0, 2).unsqueeze(1)).squeeze(1)
    h, w = x.shape[-2:]
    x = x.reshape(n * c, d, h * w).transpose(1, 2)
    x = pool1d(x).transpose(1, 2).reshape(n, c, -1, h, w)
    return x if batched else x.squeeze(0)


def max_pool3d(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
    return_indices=False,
):  # fmt: skip
    """The maximum of each window of a (n, c, d, h, w) volume.

    >>> torch.nn.functional.max_pool3d(torch.ones(1, 1, 2, 2, 2), 2)
    tensor([[[[[1.]]]]])
    """
    if return_indices:
        raise NotImplementedError("max_pool3d with return_indices is not in rushlight 0.1")
    k, s = _triple(kernel_size), _triple(kernel_size if stride is None else stride)
    p, e = _triple(padding), _triple(dilation)
    return _in_two_steps(
        input,
        lambda x: _C.max_pool1d(x, k[0], s[0], p[0], e[0], ceil_mode),
        lambda x: _C.max_pool2d(x, k[1:], s[1:], p[1:], e[1:], ceil_mode),
    )


@casts(cpu="full")
def avg_pool3d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
    divisor_override=None,
):  # fmt: skip
    """The mean of each window of a (n, c, d, h, w) volume.

    >>> torch.nn.functional.avg_pool3d(torch.ones(1, 1, 2, 2, 2), 2)
    tensor([[[[[1.]]]]])
    """
    k, s = _triple(kernel_size), _triple(kernel_size if stride is None else stride)
    p = _triple(padding)
    out = _in_two_steps(
        input,
        lambda x: _C.avg_pool1d(x, k[0], s[0], p[0], ceil_mode, count_include_pad),
        lambda x: _C.avg_pool2d(x, k[1:], s[1:], p[1:], ceil_mode, count_include_pad),
    )
    if divisor_override is None:
        return out
    if any(p) or ceil_mode:
        raise NotImplementedError(
            "avg_pool3d with divisor_override and padding or ceil_mode is not in rushlight 0.1"
        )
    return out * (k[0] * k[1] * k[2] / divisor_override)


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
    """Averages of windows chosen so that the output is (h, w); None keeps the input's.

    >>> torch.nn.functional.adaptive_avg_pool2d(torch.ones(1, 4, 4), (1, None)).shape
    torch.Size([1, 1, 4])
    """
    return _C.adaptive_avg_pool2d(input, _full_size(output_size, input, 2))


@casts(cpu="full")
def adaptive_avg_pool3d(input, output_size):
    """Averages of windows chosen so that the output is (d, h, w); None keeps the input's.

    >>> torch.nn.functional.adaptive_avg_pool3d(torch.ones(1, 1, 4, 4, 4), 1).shape
    torch.Size([1, 1, 1, 1, 1])
    """
    size = _triple(_full_size(output_size, input, 3))
    return _in_two_steps(
        input,
        lambda x: _C.adaptive_avg_pool1d(x, size[0]),
        lambda x: _C.adaptive_avg_pool2d(x, size[1:]),
    )


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
    return _C.adaptive_max_pool2d(input, _full_size(output_size, input, 2))


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


@casts(cpu="full")
def adaptive_max_pool3d(input, output_size, return_indices=False):
    """Maxima of windows chosen so that the output is (d, h, w); None keeps the input's.

    >>> torch.nn.functional.adaptive_max_pool3d(torch.ones(1, 1, 4, 4, 4), 1).shape
    torch.Size([1, 1, 1, 1, 1])
    """
    if return_indices:
        raise NotImplementedError("adaptive_max_pool3d with indices is not in rushlight 0.1")
    size = _triple(_full_size(output_size, input, 3))
    return _in_two_steps(
        input,
        lambda x: _C.adaptive_max_pool1d(x, size[0])[0],
        lambda x: _C.adaptive_max_pool2d(x, size[1:])[0],
    )


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of x^p over each window)^(1/p), p the norm type.

    >>> torch.nn.functional.lp_pool1d(torch.tensor([[3.0, 4.0]]), 2, 2)
    tensor([[5.]])
    """
    stride = kernel_size if stride is None else stride
    pooled = _C.avg_pool1d(input**norm_type, kernel_size, stride, 0, ceil_mode)
    return ((pooled.sign() * pooled.abs().relu()) * kernel_size) ** (1.0 / norm_type)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of x^p over each window)^(1/p), p the norm type.

    >>> torch.nn.functional.lp_pool2d(torch.ones(1, 2, 2), 1, 2)
    tensor([[[4.]]])
    """
    kh, kw = (kernel_size, kernel_size) if isinstance(kernel_size, int) else kernel_size
    stride = kernel_size if stride is None else stride
    pooled = _C.avg_pool2d(input**norm_type, kernel_size, stride, 0, ceil_mode)
    return ((pooled.sign() * pooled.abs().relu()) * (kh * kw)) ** (1.0 / norm_type)
