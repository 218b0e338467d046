"""Communication hooks of DistributedDataParallel, by name."""

import enum

from rushlight.distributed.algorithms.ddp_comm_hooks import (
    default_hooks,
    post_localSGD_hook,
    powerSGD_hook,
)

__all__ = [
    "DDPCommHookType",
    "default_hooks",
    "post_localSGD_hook",
    "powerSGD_hook",
    "register_ddp_comm_hook",
]


class DDPCommHookType(enum.Enum):
    """The names of register_ddp_comm_hook: a hook each, and PowerSGD's rank."""

    ALLREDUCE = default_hooks.allreduce_hook, None
    FP16_COMPRESS = default_hooks.fp16_compress_hook, None
    BF16_COMPRESS = default_hooks.bf16_compress_hook, None
    POWER_SGD = powerSGD_hook.powerSGD_hook, 1
    POWER_SGD_RANK2 = powerSGD_hook.powerSGD_hook, 2
    BATCHED_POWER_SGD = powerSGD_hook.batched_powerSGD_hook, 1
    BATCHED_POWER_SGD_RANK2 = powerSGD_hook.batched_powerSGD_hook, 2


def register_ddp_comm_hook(comm_hook_type, model, state=None):
    """Registers a hook by its name.

    Args:
        comm_hook_type: a DDPCommHookType.
        model: a DistributedDataParallel.
        state: the group; the default group where it is None.

    >>> register_ddp_comm_hook(DDPCommHookType.FP16_COMPRESS, model)  # doctest: +SKIP
    """
    hook, rank = comm_hook_type.value
    if rank is not None:
        state = powerSGD_hook.PowerSGDState(state, rank)
    model.register_comm_hook(state, hook)
