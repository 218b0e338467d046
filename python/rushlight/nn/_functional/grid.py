"""Sampling at the places that a grid names, and the grids of affine maps.

A place is (x, y) or (x, y, z), from -1 to 1 over the input: over the centres of its corner
elements if they are aligned, else over its edges.
"""

import itertools
import warnings

from rushlight import _C
from rushlight._results import check_tensors

__all__ = ["affine_grid", "grid_sample"]

MODES = ("bilinear", "nearest", "bicubic")
PADDING_MODES = ("zeros", "border", "reflection")


def _default_corners(align_corners):
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False "
            "since 1.3.0. Please specify align_corners=True if the old behavior is desired. "
            "See the documentation of grid_sample for details.",
            stacklevel=3,
        )
    return bool(align_corners)


def _to_places(x, size, align):
    """From [-1, 1] to places in a dimension."""
    return (x + 1) / 2 * (size - 1) if align else ((x + 1) * size - 1) / 2


def _clipped(x, size):
    """Into the dimension; no gradient from outside, nor from the very edge."""
    x = _C.where(x > 0, x, _C.zeros_like(x))
    return _C.where(x < size - 1, x, _C.full_like(x, size - 1))


def _reflected(x, low, high):
    """Mirrored at both ends, as often as needed."""
    if low == high:
        return _C.zeros_like(x)
    span = high - low
    x = x - low
    x = _C.where(x < 0, -x, x)
    with_flips = _C.floor(x.detach() / span)
    rest = _C.fmod(x, span)
    return _C.where(_C.fmod(with_flips, 2) == 0, rest + low, high - rest)


def _settled(x, size, padding, align):
    """Places after the padding mode has had its say; "zeros" leaves them outside."""
    if padding == "reflection":
        x = _reflected(x, 0, size - 1) if align else _reflected(x, -0.5, size - 0.5)
    return x if padding == "zeros" else _clipped(x, size)


def _take(flat, index, inside, shape):
    """Elements of the input, flat (n, c, places), at whole places; 0 where they are outside."""
    index = _C.where(inside, index, 0.0).to(_C.int64).flatten(1).unsqueeze(1)
    found = flat.gather(2, index.expand(-1, flat.size(1), -1)).reshape(shape)
    return _C.where(inside.unsqueeze(1), found, _C.zeros_like(found))


def _at(input, flat, places):
    """Values at whole places, one tensor of them for each dimension, in their order."""
    index, inside = 0.0, None
    for place, size in zip(places, input.shape[2:], strict=True):
        fits = (place >= 0) & (place < size)
        inside = fits if inside is None else inside & fits
        index = index * size + place
    return _take(flat, index, inside, (*input.shape[:2], *places[0].shape[1:]))


def _linear(input, flat, places):
    """The sum of the 2^d neighbours, each weighted by how near it is."""
    low = [p.detach().floor() for p in places]
    out = 0.0
    for corner in itertools.product((0, 1), repeat=len(places)):
        weight, at = 1.0, []
        for p, first, step in zip(places, low, corner, strict=True):
            weight = weight * (p - first if step else first + 1 - p)
            at.append(first + step)
        out = out + _at(input, flat, at) * weight.unsqueeze(1)
    return out


def cubic_weights(t):
    """The weights of the neighbours -1, 0, 1 and 2, for a place t behind 0 (Keys, 1981)."""
    a = -0.75

    def near(x):
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x):
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return far(t + 1), near(t), near(1 - t), far(2 - t)


def _cubic(input, flat, places, padding, align):
    y, x = places
    top, left = y.detach().floor(), x.detach().floor()
    h, w = input.shape[2:]
    out = 0.0
    for i, wy in enumerate(cubic_weights(y - top)):
        row = _settled(top + (i - 1), h, padding, align)
        line = 0.0
        for j, wx in enumerate(cubic_weights(x - left)):
            column = _settled(left + (j - 1), w, padding, align)
            # A mirror image of a whole place can lie between two when corners are not aligned.
            line = line + _at(input, flat, [row.trunc(), column.trunc()]) * wx.unsqueeze(1)
        out = out + line * wy.unsqueeze(1)
    return out


def _check(input, grid, mode, padding_mode):
    if mode not in MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in PADDING_MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    check_tensors("grid_sampler", input=input, grid=grid)
    rank = input.dim() - 2
    sizes = f"but got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
    if input.dtype != grid.dtype:
        raise RuntimeError(
            "grid_sampler(): expected input and grid to have same dtype, but input has "
            f"{input.dtype} and grid has {grid.dtype}"
        )
    if rank not in (2, 3) or grid.dim() != input.dim():
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, "
            + sizes
        )
    if input.size(0) != grid.size(0):
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, {sizes}"
        )
    if grid.size(-1) != rank:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {rank} in last dimension, {sizes}"
        )
    if 0 in input.shape[2:]:
        raise RuntimeError(
            f"grid_sampler(): expected input to have non-empty spatial dimensions, {sizes}"
        )
    if mode == "bicubic" and rank != 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if not input.is_floating_point():
        raise NotImplementedError(
            f"\"grid_sampler_cpu\" not implemented for '{input.dtype}': it takes floating dtypes"
        )


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The input's values at the places in `grid`.

    Args:
        mode: "bilinear" (trilinear in three dimensions), "nearest" or "bicubic".
        padding_mode: outside are "zeros", the "border" value or a "reflection".
        align_corners: -1 and 1 are the centres of the corner elements, not their outer edges.

    Shape: input (n, c, h, w) and grid (n, h', w', 2) to (n, c, h', w'); or with a depth.

    >>> x = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> torch.nn.functional.grid_sample(x, torch.zeros(1, 1, 1, 2), align_corners=False)
    tensor([[[[2.5000]]]])
    """
    _check(input, grid, mode, padding_mode)
    align = _default_corners(align_corners)
    sizes = input.shape[2:]
    # The grid's order is x, y, z; the input's dimensions are z, y, x.
    places = [_to_places(x, n, align) for x, n in zip(grid.unbind(-1)[::-1], sizes, strict=True)]
    flat = input.flatten(2)
    if mode == "bicubic":
        return _cubic(input, flat, places, padding_mode, align)
    places = [_settled(p, n, padding_mode, align) for p, n in zip(places, sizes, strict=True)]
    if mode == "nearest":
        return _at(input, flat, [p.detach().round() for p in places])
    return _linear(input, flat, places)


def affine_grid(theta, size, align_corners=None):
    """The grid of an affine map, for grid_sample.

    Args:
        size: (n, c, h, w) or (n, c, d, h, w) of the result of grid_sample.

    Shape: theta (n, 2, 3) or (n, 3, 4); the grid (n, h, w, 2) or (n, d, h, w, 3).

    >>> theta = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> torch.nn.functional.affine_grid(theta, (1, 1, 1, 2), align_corners=True)[0, 0]
    tensor([[-1.,  0.],
            [ 1.,  0.]])
    """
    align = _default_corners(align_corners)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    rank = len(size) - 2
    if rank not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {size}."
        )
    if theta.dim() != 3 or tuple(theta.shape[1:]) != (rank, rank + 1):
        raise ValueError(
            f"Expected a batch of {rank}D affine matrices of shape Nx{rank}x{rank + 1} for size "
            f"{size}. Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    if size[0] != theta.size(0):
        raise RuntimeError(f"theta is for {theta.size(0)} samples, size is {tuple(size)}")
    spatial = tuple(size[2:])
    lines = []
    for i, n in enumerate(spatial):
        if n > 1:
            edge = 1.0 if align else (n - 1) / n
            line = _C.linspace(-edge, edge, n, dtype=theta.dtype, device=theta.device)
        else:
            line = _C.zeros(1, dtype=theta.dtype, device=theta.device)
        shape = [1] * rank
        shape[i] = n
        lines.append(line.reshape(shape).expand(spatial))
    base = _C.stack([*lines[::-1], _C.ones_like(lines[0])], -1).reshape(1, -1, rank + 1)
    grid = _C.matmul(base, theta.transpose(1, 2))
    return grid.reshape(size[0], *spatial, rank)
