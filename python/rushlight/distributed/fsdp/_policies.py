"""The policies of fully_shard(): dtypes, and where the shards are."""

from __future__ import annotations

from dataclasses import dataclass

from rushlight import _C


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The dtypes that a fully sharded module computes and reduces in.

    Args:
        param_dtype: of gathered parameters; None for their own.
        reduce_dtype: in which gradients are reduced; None for param_dtype.
        output_dtype: of the outputs of forward; None leaves them.
        cast_forward_inputs: cast the inputs of forward to param_dtype.

    >>> torch.distributed.fsdp.MixedPrecisionPolicy(param_dtype=torch.bfloat16).param_dtype
    torch.bfloat16
    """

    param_dtype: _C.dtype | None = None
    reduce_dtype: _C.dtype | None = None
    output_dtype: _C.dtype | None = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """The shards stay where the module computes: the default."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """The shards, and the optimizer's state with them, are in the memory of the CPU.

    Args:
        pin_memory: accepted, not used.
    """

    pin_memory: bool = True
