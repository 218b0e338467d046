"""torch.distributed.tensor._utils: which part of a tensor a rank has, for loaders of libraries."""

from __future__ import annotations

from rushlight.distributed.tensor._redistribute import normalized, where
from rushlight.distributed.tensor.placement_types import part


def compute_local_shape_and_global_offset(global_shape, mesh, placements):
    """(shape of this rank's part, where it begins in the whole), two tuples."""
    steps, sizes, index = where(global_shape, mesh, normalized(placements, mesh, len(global_shape)))
    offsets = [0] * len(sizes)
    for i, dim, length in steps:
        offsets[dim] += part(length, mesh.size(i), index[i])[0]
    return tuple(sizes), tuple(offsets)
