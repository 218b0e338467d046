"""DistributedDataParallel for ranks with different numbers of batches.

Every forward within join() shares with the ranks that have left their loop, in this order: that it
runs, whether it will send gradients, new buckets, buffers; then backward sends the buckets.
"""

from __future__ import annotations

import warnings

import rushlight
from rushlight.distributed import ReduceOp, all_reduce
from rushlight.distributed._model_checks import take_from
from rushlight.distributed.algorithms.join import JoinHook


def _reduced(ddp, value, op=ReduceOp.SUM):
    number = rushlight.tensor([float(value)], device=ddp.device)
    all_reduce(number, op, group=ddp.process_group)
    return int(number)


def shares_sync(ddp, syncs):
    """Whether some rank's forward will send gradients."""
    return _reduced(ddp, syncs) > 0


def take_buffers(ddp, has_inputs):
    """Buffers of rank 0; within join(), of the last rank that has batches."""
    buffers = ddp._buffers_to_sync()
    if not buffers:
        return
    source = 0
    if ddp._join_config.enable:
        rank = ddp.process_group.rank()
        source = _reduced(ddp, rank if has_inputs else -1, ReduceOp.MAX)
        if source < 0:
            return
    take_from(source, buffers, ddp.process_group)


class DDPJoinHook(JoinHook):
    """What a rank without batches does while others have some."""

    def __init__(self, ddp, divides_by_initial_world_size):
        self.ddp = ddp
        ddp._divides_by_initial_world_size = divides_by_initial_world_size
        ddp.reducer.divisor = ddp.process_group.size()
        if ddp._buffers_to_sync() and any(
            isinstance(m, rushlight.nn.SyncBatchNorm) for m in ddp.module.modules()
        ):
            warnings.warn(
                "SyncBatchNorm communicates in forward, which join() does not shadow: use "
                "join(throw_on_early_termination=True)",
                stacklevel=5,
            )

    def main_hook(self):
        """Takes part in one forward and backward of the others."""
        if not shares_sync(self.ddp, False):
            return
        self.ddp.reducer.rebuild_once()
        if self.ddp.forward_sync_buffers:
            take_buffers(self.ddp, False)
        self.ddp.reducer.shadow()

    def post_hook(self, is_last_joiner):
        """Takes the parameters and buffers of a rank that was the last.

        Args:
            is_last_joiner: whether this rank was.
        """
        ddp = self.ddp
        rank = ddp.process_group.rank() if is_last_joiner else -1
        source = _reduced(ddp, rank, ReduceOp.MAX)
        named = ddp.module.named_parameters()
        kept = [p for name, p in named if name not in ddp.parameters_to_ignore]
        take_from(source, [*kept, *ddp._buffers_to_sync()], ddp.process_group)
        ddp.reducer.divisor = ddp.process_group.size()
