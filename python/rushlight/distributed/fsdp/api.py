"""The arguments of FullyShardedDataParallel, the older wrapper."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from rushlight import _C

__all__ = [
    "BackwardPrefetch",
    "CPUOffload",
    "FullOptimStateDictConfig",
    "FullStateDictConfig",
    "MixedPrecision",
    "OptimStateDictConfig",
    "ShardedOptimStateDictConfig",
    "ShardedStateDictConfig",
    "ShardingStrategy",
    "StateDictConfig",
    "StateDictSettings",
    "StateDictType",
]


class ShardingStrategy(Enum):
    """What is divided among the ranks: FULL_SHARD parameters, gradients and the optimizer's state;
    SHARD_GRAD_OP too, but parameters stay whole between forward and backward; NO_SHARD nothing;
    HYBRID_SHARD all within the second dimension of a device_mesh.
    """

    FULL_SHARD = auto()
    SHARD_GRAD_OP = auto()
    NO_SHARD = auto()
    HYBRID_SHARD = auto()
    _HYBRID_SHARD_ZERO2 = auto()


class BackwardPrefetch(Enum):
    """When the next module is gathered in backward: always as BACKWARD_PRE."""

    BACKWARD_PRE = auto()
    BACKWARD_POST = auto()


class StateDictType(Enum):
    """What state_dict() of a FullyShardedDataParallel gives: whole tensors, or DTensors."""

    FULL_STATE_DICT = auto()
    LOCAL_STATE_DICT = auto()
    SHARDED_STATE_DICT = auto()


@dataclass
class MixedPrecision:
    """The dtypes that FullyShardedDataParallel computes and reduces in.

    Args:
        param_dtype: of gathered parameters.
        reduce_dtype: in which gradients are reduced; None for param_dtype.
        buffer_dtype: of buffers.
        keep_low_precision_grads: False.
        cast_forward_inputs: accepted; inputs are cast.
        cast_root_forward_inputs: accepted; inputs are cast.
    """

    param_dtype: _C.dtype | None = None
    reduce_dtype: _C.dtype | None = None
    buffer_dtype: _C.dtype | None = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True


@dataclass
class CPUOffload:
    """Where the shards of FullyShardedDataParallel are.

    Args:
        offload_params: True: in the memory of the CPU.
    """

    offload_params: bool = False


@dataclass
class StateDictConfig:
    """How a state dictionary is made.

    Args:
        offload_to_cpu: its tensors are on the CPU.
    """

    offload_to_cpu: bool = False


@dataclass
class FullStateDictConfig(StateDictConfig):
    """How a state dictionary of whole tensors is made.

    Args:
        offload_to_cpu: its tensors are on the CPU.
        rank0_only: the other ranks get an empty one.
    """

    rank0_only: bool = False


@dataclass
class ShardedStateDictConfig(StateDictConfig):
    """How a state dictionary of DTensors is made.

    Args:
        offload_to_cpu: its tensors are on the CPU.
    """


@dataclass
class OptimStateDictConfig:
    """How an optimizer's state dictionary is made.

    Args:
        offload_to_cpu: its tensors are on the CPU.
    """

    offload_to_cpu: bool = True


@dataclass
class FullOptimStateDictConfig(OptimStateDictConfig):
    """How an optimizer's state dictionary of whole tensors is made.

    Args:
        offload_to_cpu: its tensors are on the CPU.
        rank0_only: the other ranks get an empty one.
    """

    rank0_only: bool = False


@dataclass
class ShardedOptimStateDictConfig(OptimStateDictConfig):
    """How an optimizer's state dictionary of DTensors is made.

    Args:
        offload_to_cpu: its tensors are on the CPU.
    """


@dataclass
class StateDictSettings:
    """What set_state_dict_type() has set.

    Args:
        state_dict_type: a StateDictType.
        state_dict_config: a StateDictConfig.
        optim_state_dict_config: an OptimStateDictConfig.
    """

    state_dict_type: StateDictType
    state_dict_config: StateDictConfig
    optim_state_dict_config: OptimStateDictConfig
