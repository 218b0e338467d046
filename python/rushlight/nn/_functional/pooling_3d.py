"""Pooling of (d, h, w) windows: over (h, w) first, then over d, which maxima and means allow."""

from rushlight import _C
from rushlight._casts import casts
from rushlight._results import check_tensors, ints
from rushlight.nn._functional.pooling import full_size, lp_limit, lp_sum

__all__ = [
    "adaptive_avg_pool3d", "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices",
    "avg_pool3d", "lp_pool3d", "max_pool3d", "max_pool3d_with_indices",
]  # fmt: skip


def _check_rank(name, input):
    check_tensors(name, input=input)
    if name == "max_pool3d" and input.dim() not in (4, 5):
        raise RuntimeError(
            "non-empty 4D or 5D (batch mode) tensor expected for input\n"
            f"max_pool3d(): got {list(input.shape)}"
        )
    if input.dim() not in (4, 5) or 0 in input.shape[-4:]:
        raise RuntimeError(
            f"{name}: Expected 4D or 5D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got: {list(input.shape)}"
        )


def _as_planes(input):
    """(planes, 1, h, w), and n * c and d."""
    *outer, d, h, w = input.shape
    planes = 1
    for n in outer:
        planes *= n
    return input.reshape(planes * d, 1, h, w), planes, d


def _as_lines(x, planes, d):
    """(planes, 1, h', w') as (planes, h' * w', d)."""
    return x.reshape(planes, d, x.size(-2) * x.size(-1)).transpose(1, 2)


def _as_volume(x, input, size):
    """(planes, h' * w', d') as (n, c, d', h', w')."""
    return x.transpose(1, 2).reshape(*input.shape[:-3], x.size(2), *size)


def _means(input, pool1d, pool2d):
    x, planes, d = _as_planes(input)
    x = pool2d(x)
    size = x.shape[-2:]
    return _as_volume(pool1d(_as_lines(x, planes, d)), input, size)


def _maxima(input, pool1d, pool2d):
    """Maxima and where they were in (d, h, w); both poolings return indices."""
    x, planes, d = _as_planes(input)
    x, within = pool2d(x)
    size = x.shape[-2:]
    x, depth = pool1d(_as_lines(x, planes, d))
    within = _as_lines(within, planes, d).gather(2, depth)
    index = depth * (input.size(-2) * input.size(-1)) + within
    return _as_volume(x, input, size), _as_volume(index, input, size)


def max_pool3d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
    return_indices=False,
):  # fmt: skip
    """max_pool3d and the flat index of each maximum.

    >>> torch.nn.functional.max_pool3d_with_indices(torch.ones(1, 1, 2, 2, 2), 2)[1]
    tensor([[[[[0]]]]])
    """
    _check_rank("max_pool3d", input)
    k = ints("max_pool3d", "kernel_size", kernel_size, 3)
    s = k if stride is None or stride == () else ints("max_pool3d", "stride", stride, 3)
    p, e = ints("max_pool3d", "padding", padding, 3), ints("max_pool3d", "dilation", dilation, 3)
    return _maxima(
        input,
        lambda x: _C.max_pool1d_with_indices(x, k[0], s[0], p[0], e[0], ceil_mode),
        lambda x: _C.max_pool2d_with_indices(x, k[1:], s[1:], p[1:], e[1:], ceil_mode),
    )


def max_pool3d(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
    return_indices=False,
):  # fmt: skip
    """The maximum of each window of a (n, c, d, h, w) volume.

    Args:
        return_indices: return also where each maximum was, as flat indices.

    >>> torch.nn.functional.max_pool3d(torch.ones(1, 1, 2, 2, 2), 2)
    tensor([[[[[1.]]]]])
    """
    both = max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return both if return_indices else both[0]


@casts(cpu="full")
def avg_pool3d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
    divisor_override=None, *, out=None,
):  # fmt: skip
    """The mean of each window of a (n, c, d, h, w) volume.

    Args:
        count_include_pad: whether the padding counts in the mean.
        divisor_override: what the sum is divided by, instead of the count.

    >>> torch.nn.functional.avg_pool3d(torch.ones(1, 1, 2, 2, 2), 2)
    tensor([[[[[1.]]]]])
    """
    _check_rank("avg_pool3d", input)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    k = ints("avg_pool3d", "kernel_size", kernel_size, 3)
    s = k if stride is None or stride == () else ints("avg_pool3d", "stride", stride, 3)
    p = ints("avg_pool3d", "padding", padding, 3)
    sums = divisor_override is not None or not input.is_floating_point()
    rest = (ceil_mode, count_include_pad, 1 if sums else None)
    mean = _means(
        input,
        # As a width, since avg_pool1d knows no divisor.
        lambda x: _C.avg_pool2d(x.unsqueeze(2), (1, k[0]), (1, s[0]), (0, p[0]), *rest).squeeze(2),
        lambda x: _C.avg_pool2d(x, k[1:], s[1:], p[1:], *rest),
    )
    if sums:
        count = divisor_override
        if count is None:
            count = _counts(input, mean, k, s, p, count_include_pad)
        rounding = None if input.is_floating_point() else "trunc"
        mean = _C.div(mean, count, rounding_mode=rounding)
    return mean if out is None else _C.add(mean, 0, out=out)


def _counts(input, pooled, kernel, stride, padding, count_include_pad):
    """(d', h', w'): how many elements each window holds."""
    total = 1
    for i, (k, s, p) in enumerate(zip(kernel, stride, padding, strict=True)):
        size, start = input.size(i - 3), _C.arange(pooled.size(i - 3)) * s - p
        low = start if count_include_pad else start.clamp(min=0)
        high = (start + k).clamp(max=size + p if count_include_pad else size)
        shape = [1, 1, 1]
        shape[i] = -1
        total = total * (high - low).clamp(min=1).reshape(shape)
    return total.to(input.device)


@casts(cpu="full")
def adaptive_avg_pool3d(input, output_size):
    """Averages of windows chosen so that the output is (d, h, w); None keeps the input's.

    >>> torch.nn.functional.adaptive_avg_pool3d(torch.ones(1, 1, 4, 4, 4), 1).shape
    torch.Size([1, 1, 1, 1, 1])
    """
    size = ints("adaptive_avg_pool3d", "output_size", full_size(output_size, input, 3), 3)
    _check_rank("adaptive_avg_pool3d", input)
    return _means(
        input,
        lambda x: _C.adaptive_avg_pool1d(x, size[0]),
        lambda x: _C.adaptive_avg_pool2d(x, size[1:]),
    )


def adaptive_max_pool3d_with_indices(input, output_size, return_indices=False):
    """adaptive_max_pool3d and the flat index of each maximum.

    >>> torch.nn.functional.adaptive_max_pool3d_with_indices(torch.ones(1, 2, 2, 2), 1)[1]
    tensor([[[[0]]]])
    """
    size = ints("adaptive_max_pool3d", "output_size", full_size(output_size, input, 3), 3)
    _check_rank("adaptive_max_pool3d", input)
    return _maxima(
        input,
        lambda x: _C.adaptive_max_pool1d(x, size[0]),
        lambda x: _C.adaptive_max_pool2d(x, size[1:]),
    )


@casts(cpu="full")
def adaptive_max_pool3d(input, output_size, return_indices=False):
    """Maxima of windows chosen so that the output is (d, h, w); None keeps the input's.

    >>> torch.nn.functional.adaptive_max_pool3d(torch.ones(1, 1, 4, 4, 4), 1).shape
    torch.Size([1, 1, 1, 1, 1])
    """
    both = adaptive_max_pool3d_with_indices(input, output_size)
    return both if return_indices else both[0]


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of x^p over each window)^(1/p), p the norm type.

    >>> torch.nn.functional.lp_pool3d(torch.ones(1, 2, 2, 2), 1, 2)
    tensor([[[[8.]]]])
    """
    k = ints("lp_pool3d", "kernel_size", kernel_size, 3)
    stride = kernel_size if stride is None else stride
    limit = lp_limit(max_pool3d, input, norm_type, kernel_size, stride, ceil_mode)
    if limit is not None:
        return limit
    mean = avg_pool3d(input**norm_type, kernel_size, stride, 0, ceil_mode)
    return lp_sum(mean, k[0] * k[1] * k[2], norm_type)
