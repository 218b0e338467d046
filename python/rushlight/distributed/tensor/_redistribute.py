"""The part of a tensor that a rank has, and the way back to the whole.

A dimension of n elements over k ranks is cut into parts of ceil(n / k), of which the last may be
shorter or empty. What is sent is padded to that length, so that all ranks send alike.
"""

from __future__ import annotations

import rushlight
from rushlight.distributed._collectives import all_gather_into_tensor, all_reduce
from rushlight.distributed._reduce_op import ReduceOp
from rushlight.distributed.tensor.placement_types import Placement, Replicate, Shard, part


def normalized(placements, mesh, ndim):
    """The placements as a tuple, one for each dimension of the mesh, with dimensions from 0 on."""
    found = [Replicate()] * mesh.ndim if placements is None else list(placements)
    if len(found) != mesh.ndim:
        raise ValueError(
            "`placements` must have the same length as `device_mesh.ndim`! Found placements "
            f"length: {len(found)}, and device_mesh.ndim: {mesh.ndim}."
        )
    for i, each in enumerate(found):
        if not isinstance(each, Placement):
            raise TypeError(f"a placement is Shard, Replicate or Partial, not {each!r:.100}")
        if isinstance(each, Shard):
            if not -ndim <= each.dim < ndim:
                raise IndexError(f"{each!r}: the tensor has {ndim} dimensions")
            found[i] = Shard(each.dim % ndim)
    return tuple(found)


def where(shape, mesh, placements):
    """For each mesh dimension that cuts: (its index, the tensor's dimension, the length there)."""
    sizes, index, found = list(shape), mesh.get_coordinate(), []
    if index is None:
        raise RuntimeError(f"rank {mesh.get_rank()} is not in {mesh}")
    for i, placement in enumerate(placements):
        if placement.is_shard():
            found.append((i, placement.dim, sizes[placement.dim]))
            sizes[placement.dim] = part(sizes[placement.dim], mesh.size(i), index[i])[1]
    return found, sizes, index


def cut(whole, mesh, placements):
    """This rank's part of a tensor that all have, as a tensor of its own."""
    steps, _, index = where(whole.shape, mesh, placements)
    found = whole
    for i, dim, length in steps:
        found = found.narrow(dim, *part(length, mesh.size(i), index[i]))
    return found.clone(memory_format=rushlight.contiguous_format)


def whole(local, shape, mesh, placements):
    """All of it, on every rank; `local` itself where nothing is cut or summed."""
    steps, _, _ = where(shape, mesh, placements)
    found = local
    for i, dim, length in reversed(steps):
        found = _joined(found, dim, length, mesh.get_group(i))
    for i, placement in enumerate(placements):
        if placement.is_partial():
            found = found.clone()
            op = getattr(ReduceOp, placement.reduce_op.upper())
            all_reduce(found, op, mesh.get_group(i))
    return found


def _joined(local, dim, length, group):
    ranks = group.size()
    each = part(length, ranks, 0)[1]
    own = local.movedim(dim, 0).contiguous()
    if own.size(0) < each:
        padded = own.new_zeros((each, *own.shape[1:]))
        padded[: own.size(0)] = own
        own = padded
    every = own.new_empty((ranks * each, *own.shape[1:]))
    all_gather_into_tensor(every, own, group)
    return every[:length].movedim(0, dim).contiguous()


def redistributed(local, shape, mesh, before, after):
    """This rank's part under other placements."""
    if before == after:
        return local
    if any(p.is_partial() and p != before[i] for i, p in enumerate(after)):
        raise RuntimeError("Can not redistribute to Partial!")
    if any(p.is_partial() for p in after):
        raise NotImplementedError(
            f"redistribute() from {before} to {after} is not in rushlight 0.1: make all of it "
            "Shard or Replicate"
        )
    return cut(whole(local, shape, mesh, before), mesh, after)
