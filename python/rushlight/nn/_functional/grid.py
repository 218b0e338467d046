"""The grids of affine maps, for grid_sample."""

from __future__ import annotations

import warnings

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import Sequence, op


@op("nn.functional")
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The sampling grid of affine maps, for grid_sample.

    Args:
        theta: the maps, a 2 x 3 or 3 x 4 matrix for each image.
        size: (n, c, h, w) or (n, c, d, h, w) of the result of grid_sample.
        align_corners: whether -1 and 1 are the centres of the corner pixels, not their edges; as in
            grid_sample.

    Shape: theta (n, 2, 3) or (n, 3, 4); the grid (n, h, w, 2) or (n, d, h, w, 3).

    >>> theta = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> torch.nn.functional.affine_grid(theta, (1, 1, 1, 2), align_corners=True)[0, 0]
    tensor([[-1.,  0.],
            [ 1.,  0.]])
    """
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False "
            "since 1.3.0. Please specify align_corners=True if the old behavior is desired. "
            "See the documentation of grid_sample for details.",
            stacklevel=2,
        )
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
            edge = 1.0 if align_corners else (n - 1) / n
            line = _C.linspace(-edge, edge, n, dtype=theta.dtype, device=theta.device)
        else:
            line = _C.zeros(1, dtype=theta.dtype, device=theta.device)
        shape = [1] * rank
        shape[i] = n
        lines.append(line.reshape(shape).expand(spatial))
    base = _C.stack([*lines[::-1], _C.ones_like(lines[0])], -1).reshape(1, -1, rank + 1)
    grid = _C.matmul(base, theta.transpose(1, 2))
    return grid.reshape(size[0], *spatial, rank)
