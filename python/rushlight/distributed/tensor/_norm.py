"""Numbers over all elements of DTensors, and whether they are equal: of each rank's parts, and one
reduction for each mesh. All ranks of the mesh call them.
"""

from __future__ import annotations

import math

from rushlight import _C
from rushlight.distributed._collectives import all_reduce
from rushlight.distributed._reduce_op import ReduceOp
from rushlight.distributed.tensor._redistribute import whole


def total_norm(tensors, norms, exponent):
    """The norm of all elements of `tensors`, and of the `norms` of others; the same on all ranks.

    Note: where a mesh dimension has replicas, each has all that the others have.
    """
    kinds = {}
    for each in tensors:
        local = each._local_tensor
        if any(p.is_partial() for p in each.placements):
            local = whole(local, each.shape, each.device_mesh, each.placements)
        cut = tuple(i for i, p in enumerate(each.placements) if p.is_shard())
        kinds.setdefault((each.device_mesh, cut), []).append(local.detach())
    found = list(norms)
    for (mesh, cut), parts in kinds.items():
        found.append(_over_ranks(parts, mesh, cut, exponent))
    first = found[0].device
    return _C.norm(_C.stack([each.to(first) for each in found]), exponent)


def total_sum(tensor):
    """The sum of all elements, the same on all ranks; None of one that a rank has a summand of."""
    if any(p.is_partial() for p in tensor.placements):
        return None
    local = tensor._local_tensor.detach().sum()
    for i, placement in enumerate(tensor.placements):
        if placement.is_shard():
            all_reduce(local, ReduceOp.SUM, tensor.device_mesh.get_group(i))
    return local


def all_equal(one, other):
    """Whether two DTensors have the same shape and elements, the same answer on all ranks."""
    if not hasattr(other, "_local_tensor"):
        raise RuntimeError(
            "aten.equal.default got mixed torch.Tensor and DTensor, need to convert all "
            "torch.Tensor to DTensor before calling distributed operators!\nuse "
            "distribute_tensor(tensor, dtensor.device_mesh, dtensor.placements)"
        )
    if one.shape != other.shape:
        return False
    alike = one.device_mesh == other.device_mesh and one.placements == other.placements
    if not alike or any(p.is_partial() for p in one.placements):
        return bool(_C.equal(one.full_tensor(), other.full_tensor()))
    answer = _C.tensor(int(_C.equal(one._local_tensor, other._local_tensor)))
    for i in range(one.device_mesh.ndim):
        all_reduce(answer, ReduceOp.MIN, one.device_mesh.get_group(i))
    return bool(answer)


def _over_ranks(parts, mesh, cut, exponent):
    own = [_C.norm(each.reshape(-1), exponent) for each in parts if each.numel()]
    if math.isinf(exponent):
        largest = exponent > 0
        op = ReduceOp.MAX if largest else ReduceOp.MIN
        total = _C.norm(_C.stack(own), exponent) if own else parts[0].new_full(
            (), 0.0 if largest else math.inf)  # fmt: skip
    else:
        op = ReduceOp.SUM
        total = _C.stack(own).pow(exponent).sum() if own else parts[0].new_zeros(())
    for i in cut:
        all_reduce(total, op, mesh.get_group(i))
    return total if math.isinf(exponent) else total.pow(1.0 / exponent)
