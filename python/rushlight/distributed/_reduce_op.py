"""ReduceOp, and how the engine computes what it has no loop for."""

from __future__ import annotations

import enum

from rushlight import _C
from rushlight.distributed import _gloo, _nccl


class ReduceOp(enum.IntEnum):
    """How values of several ranks become one.

    AVG is of floating-point tensors; BAND, BOR and BXOR are of integers and bool.

    >>> torch.distributed.ReduceOp.SUM.name
    'SUM'
    """

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7


setattr(ReduceOp, "RedOpType", ReduceOp)  # noqa: B010 - torch wraps the one in the other


_OPS = {
    ReduceOp.SUM: _gloo.SUM,
    ReduceOp.AVG: _gloo.SUM,
    ReduceOp.PRODUCT: _gloo.PRODUCT,
    ReduceOp.MIN: _gloo.MIN,
    ReduceOp.MAX: _gloo.MAX,
}
_BITS = {ReduceOp.BAND: "bitwise_and", ReduceOp.BOR: "bitwise_or", ReduceOp.BXOR: "bitwise_xor"}
# Of bool, computed as uint8 that are 0 or 1.
_BOOL = {
    ReduceOp.SUM: _gloo.MAX, ReduceOp.MAX: _gloo.MAX, ReduceOp.BOR: _gloo.MAX,
    ReduceOp.PRODUCT: _gloo.MIN, ReduceOp.MIN: _gloo.MIN, ReduceOp.BAND: _gloo.MIN,
}  # fmt: skip
_WIDER = {_C.bfloat16: _C.float32, _C.int16: _C.int32, _C.bool: _C.uint8}


def plan(op, tensor, group):
    """(dtype to compute in, number of the engine's operation or the name of ours)."""
    dtype, nccl = tensor.dtype, group._served[tensor.device.type] == "nccl"
    try:
        op = ReduceOp(op)
    except ValueError:
        raise RuntimeError(f"there is no ReduceOp {op!r}") from None
    if nccl:
        _nccl.check_op(op.name, dtype)
    if op in _BITS and (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(
            f"Cannot use ReduceOp.{op.name} with non-integral dtype\n"
            f"the tensor is {str(dtype).rpartition('.')[2]}"
        )
    if op == ReduceOp.AVG and not dtype.is_floating_point and not nccl:
        raise RuntimeError(
            f"ReduceOp.AVG is for floating-point tensors, not {str(dtype).rpartition('.')[2]}\n"
            "use ReduceOp.SUM, and divide"
        )
    own = dtype == _C.bfloat16 and nccl and group._nccl.real  # Gloo's has no bfloat16
    computed = dtype if own else _WIDER.get(dtype, dtype)
    if computed not in _gloo.KINDS and not own:
        raise RuntimeError(f"Invalid scalar type\ncollectives have no {dtype}")
    if dtype == _C.bool and op in _BOOL:
        return computed, _BOOL[op]
    return (dtype, _BITS[op]) if op in _BITS else (computed, _OPS[op])


def supports_complex(reduceOp) -> bool:
    """Whether torch reduces complex numbers by it: all but PRODUCT, MIN, MAX and those of bits.

    Args:
        reduceOp: a ReduceOp.

    >>> torch.distributed.supports_complex(torch.distributed.ReduceOp.MAX)
    False
    """
    return reduceOp in (ReduceOp.SUM, ReduceOp.AVG)
