"""torch.distributed.fsdp: the parameters of a module divided among the ranks.

docs/fsdp.md draws a step. _fully_shard.py has what users call, _state.py the hooks of a module,
_gathered.py the memory of its parameters, _reduction.py its gradients; the older wrapper is in
fully_sharded_data_parallel.py.
"""

from rushlight.distributed.fsdp import api, fully_sharded_data_parallel, wrap
from rushlight.distributed.fsdp._fully_shard import (
    FSDPModule,
    UnshardHandle,
    fully_shard,
    register_fsdp_forward_method,
)
from rushlight.distributed.fsdp._policies import (
    CPUOffloadPolicy,
    MixedPrecisionPolicy,
    OffloadPolicy,
)
from rushlight.distributed.fsdp.api import *  # noqa: F403
from rushlight.distributed.fsdp.fully_sharded_data_parallel import FullyShardedDataParallel

__all__ = [
    *api.__all__,
    "CPUOffloadPolicy",
    "FSDPModule",
    "FullyShardedDataParallel",
    "MixedPrecisionPolicy",
    "OffloadPolicy",
    "UnshardHandle",
    "api",
    "fully_shard",
    "fully_sharded_data_parallel",
    "register_fsdp_forward_method",
    "wrap",
]


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
