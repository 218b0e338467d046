"""Schedules made of schedules."""

from bisect import bisect_right

from rushlight.optim._schedules.base import LRScheduler, copied, set_rate

__all__ = ["ChainedScheduler", "SequentialLR"]


def _check(optimizer, schedulers, kind):
    for i, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{kind} at index {i} should have `optimizer` as its attribute.")
        if optimizer is not scheduler.optimizer:
            raise ValueError(
                f"{kind} expects all schedulers to belong to the same optimizer, but got "
                f"scheduler {type(scheduler).__name__} at index {i} has {scheduler.optimizer}, "
                f"which is different from {optimizer}."
            )


class _Combined(LRScheduler):
    def state_dict(self):
        """The schedules' states are in "_schedulers"."""
        state = {
            key: value
            for key, value in self.__dict__.items()
            if key not in ("optimizer", "_schedulers")
        }
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict):
        state = dict(state_dict)
        saved = state.pop("_schedulers")
        self.__dict__.update(state)
        for scheduler, inner in zip(self._schedulers, saved, strict=False):
            scheduler.load_state_dict(inner)

    def _remember(self):
        self._last_lr = [copied(group["lr"]) for group in self.optimizer.param_groups]


class SequentialLR(_Combined):
    """One schedule after the other, each from its milestone on.

    Args:
        optimizer: the optimizer whose rates are set.
        schedulers: the schedules, of the same optimizer.
        milestones: the steps at which the second, third, ... schedule begins.
        last_epoch: the number of steps taken, -1 at the start.

    >>> schedules = torch.optim.lr_scheduler
    >>> opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
    >>> warm = schedules.ConstantLR(opt, factor=0.5, total_iters=2)
    >>> decay = schedules.ExponentialLR(opt, gamma=0.9)
    >>> schedules.SequentialLR(opt, [warm, decay], milestones=[2]).get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        _check(optimizer, schedulers, type(self).__name__)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers {len(schedulers)} "
                f"and the number of milestones to be equal to {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            set_rate(group, copied(group["initial_lr"]))
        for scheduler in schedulers:  # each has taken a first step of its own
            scheduler.last_epoch -= 1
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self):
        """Steps the current schedule."""
        self.last_epoch += 1
        turn = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[turn]
        if turn > 0 and self._milestones[turn - 1] == self.last_epoch:
            scheduler._set_rates(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Combined):
    """Several schedules at once: each step steps all of them.

    Args:
        schedulers: the schedules, of the same optimizer.
        optimizer: that optimizer; the schedules' if None.

    >>> schedules = torch.optim.lr_scheduler
    >>> opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
    >>> warm = schedules.ConstantLR(opt, factor=0.5, total_iters=2)
    >>> decay = schedules.ExponentialLR(opt, gamma=0.9)
    >>> schedules.ChainedScheduler([warm, decay], optimizer=opt).get_last_lr()
    [0.25]
    """

    def __init__(self, schedulers, optimizer=None):
        if len(schedulers) < 1:
            raise ValueError(
                "ChainedScheduler expects at least one scheduler to be chained, but got no "
                "scheduler."
            )
        optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        _check(optimizer, schedulers, type(self).__name__)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._remember()

    def step(self):
        """Steps all schedules, in order."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._remember()
