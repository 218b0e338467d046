"""Post-local SGD (Lin et al., 2020): averages over all ranks at first, later over a part of them.

From then on model_averaging brings the parameters of all ranks together, now and then.
"""

from __future__ import annotations

import os

from rushlight.distributed import _world
from rushlight.distributed._subgroups import new_subgroups
from rushlight.distributed.algorithms.ddp_comm_hooks.default_hooks import _average
from rushlight.futures import Future

__all__ = ["PostLocalSGDState", "post_localSGD_hook"]


class PostLocalSGDState:
    """The settings of post_localSGD_hook(), and how many steps it has seen.

    Args:
        process_group: of the steps before start_localSGD_iter; the default group where it is None.
        subgroup: of those after it; the ranks of this host where it is None.
        start_localSGD_iter: how many steps average over all ranks.
        post_local_gradient_allreduce: whether the subgroup averages gradients at all.

    >>> state = PostLocalSGDState(None, None, start_localSGD_iter=100)  # doctest: +SKIP
    >>> model.register_comm_hook(state, post_localSGD_hook)  # doctest: +SKIP
    """

    def __init__(
        self, process_group, subgroup, start_localSGD_iter, post_local_gradient_allreduce=True
    ):
        if subgroup is None:  # made here, as all ranks make it together
            size = _world._default().size()
            subgroup, _ = new_subgroups(int(os.environ.get("LOCAL_WORLD_SIZE", size)))
        self.process_group, self.subgroup = process_group, subgroup
        self.start_localSGD_iter = start_localSGD_iter
        self.post_local_gradient_allreduce = post_local_gradient_allreduce
        self.iter = 0

    def maybe_increase_iter(self, bucket):
        """Counts a step at its last bucket."""
        if bucket.is_last():
            self.iter += 1


def post_localSGD_hook(state, bucket):
    """The average of the gradients over all ranks, or over a part of them in later steps.

    Args:
        state: a PostLocalSGDState.
        bucket: a GradBucket.

    Source: Lin et al., Don't Use Large Mini-Batches, Use Local SGD, 2020.

    >>> model.register_comm_hook(state, post_localSGD_hook)  # doctest: +SKIP
    """
    is_local = state.iter >= state.start_localSGD_iter
    state.maybe_increase_iter(bucket)
    if not is_local:
        return _average(state.process_group, bucket.buffer())
    if not state.post_local_gradient_allreduce:
        own: Future = Future()
        own.set_result(bucket.buffer())
        return own
    return _average(state.subgroup, bucket.buffer())
