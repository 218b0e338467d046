"""The inverse of max-pooling, and max-pooling with windows drawn at random."""

import math

from rushlight import _C
from rushlight._results import check_tensors, ints

__all__ = [
    "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices", "max_unpool1d", "max_unpool2d", "max_unpool3d",
]  # fmt: skip


def _unpooled_size(input, kernel, stride, padding, output_size):
    """The spatial size: as given, or the smallest that pools to the input's."""
    rank = len(kernel)
    own = input.shape[-rank:]
    default = [
        (n - 1) * s + k - 2 * p for n, k, s, p in zip(own, kernel, stride, padding, strict=True)
    ]
    if output_size is None:
        return default
    output_size = tuple(output_size)
    if len(output_size) == rank + 2:
        output_size = output_size[2:]
    if len(output_size) != rank:
        raise ValueError(
            f"output_size should be a sequence containing {rank} or {rank + 2} elements, but it "
            f"has a length of '{len(output_size)}'"
        )
    for d, (want, n, s) in enumerate(zip(output_size, default, stride, strict=True)):
        if not n - s < want < n + s:
            raise ValueError(
                f'invalid output_size "{output_size}" (dim {d} must be between {n - s} and {n + s})'
            )
    return list(output_size)


def _unpool(rank, input, indices, kernel_size, stride, padding, output_size):
    name = f"max_unpool{rank}d"
    check_tensors(name, input=input, indices=indices)
    kernel = ints(name, "kernel_size", kernel_size, rank)
    stride = kernel if stride is None else ints(name, "stride", stride, rank)
    padding = ints(name, "padding", padding, rank)
    size = _unpooled_size(input, kernel, stride, padding, output_size)
    if indices.dtype != _C.int64:
        raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype}")
    if input.dim() not in (rank + 1, rank + 2) or 0 in input.shape[1:]:
        raise RuntimeError(
            f"{name}: expected an input of {rank + 1} or {rank + 2} dimensions, none but the batch "
            f"empty, got {list(input.shape)}"
        )
    if indices.shape != input.shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(input.shape)}) but got indices tensor with shape: {list(indices.shape)}"
        )
    if min(stride) <= 0:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {stride}")
    places = math.prod(size)
    flat = indices.flatten(-rank)
    if flat.numel() and not bool(((flat >= 0) & (flat < places)).all()):
        raise RuntimeError(
            f"Found an invalid max index: {int(flat.max())} (output volumes are of size "
            f"{'x'.join(map(str, size))})"
        )
    zeros = _C.zeros((*input.shape[:-rank], places), dtype=input.dtype, device=input.device)
    out = zeros.scatter(-1, flat, input.flatten(-rank))
    return out.reshape(*input.shape[:-rank], *size)


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Puts values back where max_pool1d found them; all else is 0.

    >>> torch.nn.functional.max_unpool1d(torch.tensor([[3.0]]), torch.tensor([[1]]), 2)
    tensor([[0., 3.]])
    """
    return _unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Puts values back where max_pool2d found them; all else is 0.

    >>> torch.nn.functional.max_unpool2d(torch.tensor([[[3.0]]]), torch.tensor([[[1]]]), 2)
    tensor([[[0., 3.],
             [0., 0.]]])
    """
    return _unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Puts values back where max_pool3d found them; all else is 0.

    >>> torch.nn.functional.max_unpool3d(torch.ones(1, 1, 1, 1), torch.zeros(1, 1, 1, 1).long(), 2)
    tensor([[[[1., 0.],
              [0., 0.]],
    <BLANKLINE>
             [[0., 0.],
              [0., 0.]]]])
    """
    return _unpool(3, input, indices, kernel_size, stride, padding, output_size)


def _starts(samples, have, want, kernel):
    """Where the `want` windows of a dimension begin, for each plane (Graham, 2014)."""
    last = _C.full_like(samples, have - kernel, dtype=_C.int64).unsqueeze(-1)
    if want == 1:
        return last
    alpha = (have - kernel) / (want - 1)
    steps = _C.arange(want - 1, dtype=samples.dtype, device=samples.device)
    u = samples.unsqueeze(-1)
    first = ((steps + u) * alpha).to(_C.int64) - (u * alpha).to(_C.int64)
    return _C.cat([first, last], -1)


def _fractional(rank, input, kernel_size, output_size, output_ratio, samples):
    name = f"fractional_max_pool{rank}d"
    check_tensors(name, input=input)
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    batched = input.dim() == rank + 2
    if input.dim() not in (rank + 1, rank + 2) or 0 in input.shape[1 if batched else 0 :]:
        raise RuntimeError(
            f"{name}: Expected {rank + 1}D or {rank + 2}D tensor with non-zero dimensions, but "
            f"got: {list(input.shape)}"
        )
    own = input.shape[-rank:]
    if output_size is None:
        many = isinstance(output_ratio, list | tuple)
        ratios = tuple(output_ratio) if many else (output_ratio,) * rank
        if len(ratios) != rank:
            raise ValueError(
                f"{name} requires output_ratio to either be a single number or {rank} of them, "
                f"got {ratios}"
            )
        output_size = [int(n * r) for n, r in zip(own, ratios, strict=True)]
    kernel = ints(name, "kernel_size", kernel_size, rank)
    size = ints(name, "output_size", output_size, rank)
    for n, k, want in zip(own, kernel, size, strict=True):
        if want <= 0 or k <= 0 or want + k - 1 > n:
            raise RuntimeError(
                f"{name}: pool size {k} with output size {want} does not fit into {n} elements "
                f"of input {list(input.shape)}"
            )
    planes = input if batched else input.unsqueeze(0)
    n, c = planes.shape[:2]
    if samples is None:
        samples = _C.rand((n, c, rank), dtype=input.dtype, device=input.device)
    if rank == 3 and samples.dim() == 3:
        samples = samples[:n]
    if tuple(samples.shape) != (n, c, rank) or samples.dtype != input.dtype:
        raise RuntimeError(
            f"{name}: Expect _random_samples of shape {(n, c, rank)} and input's dtype, got "
            f"{tuple(samples.shape)} and {samples.dtype}"
        )
    # torch draws the last dimension's number first in 2D, the first dimension's first in 3D.
    order = range(rank) if rank == 3 else reversed(range(rank))
    index = 0
    for d, place in zip(range(rank), order, strict=True):
        starts = _starts(samples[..., place], own[d], size[d], kernel[d])
        within = _C.arange(kernel[d], device=input.device)
        shape = [n, c, *[1] * (2 * rank)]
        shape[2 + d], shape[2 + rank + d] = size[d], kernel[d]
        index = index * own[d] + (starts.unsqueeze(-1) + within).reshape(shape)
    index = index.reshape(n, c, math.prod(size), math.prod(kernel))
    values = planes.flatten(2).gather(2, index.flatten(2)).reshape(index.shape)
    best, winner = values.max(-1)
    index = index.gather(3, winner.unsqueeze(-1)).squeeze(-1)
    shape = (*input.shape[:-rank], *size)
    return best.reshape(shape), index.reshape(shape)


def fractional_max_pool2d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
    _random_samples=None,
):  # fmt: skip
    """fractional_max_pool2d and the flat index of each maximum.

    >>> torch.nn.functional.fractional_max_pool2d_with_indices(torch.ones(1, 3, 3), 2, 1)[1]
    tensor([[[4]]])
    """
    return _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool2d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
    _random_samples=None,
):  # fmt: skip
    """Maxima of windows whose places are drawn at random (Graham, 2014).

    Args:
        output_size: the size wanted; or
        output_ratio: the size as a share of the input's.

    >>> torch.nn.functional.fractional_max_pool2d(torch.ones(1, 5, 5), 2, (3, 2)).shape
    torch.Size([1, 3, 2])
    """
    both = _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return both if return_indices else both[0]


def fractional_max_pool3d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
    _random_samples=None,
):  # fmt: skip
    """fractional_max_pool3d and the flat index of each maximum.

    >>> torch.nn.functional.fractional_max_pool3d_with_indices(torch.ones(1, 2, 2, 2), 2, 1)[1]
    tensor([[[[0]]]])
    """
    return _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
    _random_samples=None,
):  # fmt: skip
    """Maxima of windows whose places are drawn at random.

    >>> torch.nn.functional.fractional_max_pool3d(torch.ones(1, 5, 5, 5), 2, 3).shape
    torch.Size([1, 3, 3, 3])
    """
    both = _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return both if return_indices else both[0]
