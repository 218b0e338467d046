"""torch.distributed.fsdp: the parameters of a module divided among the ranks.

docs/fsdp.md draws a step. _fully_shard.py has what users call, _state.py the hooks of a module,
_gathered.py the memory of its parameters, _reduction.py its gradients.
"""

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

__all__ = [
    "CPUOffloadPolicy",
    "FSDPModule",
    "MixedPrecisionPolicy",
    "OffloadPolicy",
    "UnshardHandle",
    "fully_shard",
    "register_fsdp_forward_method",
]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    raise AttributeError(f"torch.distributed.fsdp.{name} is not in rushlight 0.1", name=name)
