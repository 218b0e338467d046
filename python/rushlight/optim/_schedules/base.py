"""LRScheduler: when a schedule sets the rates, and what it remembers.

The rates are computed from the current ones ("chainable" form), so that schedules can be chained;
`step(epoch)` uses the closed form where there is one. Both round as torch's do.
"""

import warnings
import weakref

from rushlight import _C
from rushlight.optim.optimizer import Optimizer

__all__ = ["LRScheduler"]

STEP_ORDER = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and "
    "later, you should call them in the opposite order: `optimizer.step()` before "
    "`lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping the first value of "
    "the learning rate schedule. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)
STEP_OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
    "initialization. Please, make sure to call `optimizer.step()` before `lr_scheduler.step()`. "
    "See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)
EPOCH_GIVEN = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler. During the deprecation, if "
    "epoch is different from None, the closed form is used instead of the new chainable form, "
    "where available. Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose."
)


def set_rate(group, rate):
    """Sets a group's rate; a rate that is a tensor is filled."""
    if isinstance(group["lr"], _C.Tensor):
        group["lr"].fill_(float(rate))
    else:
        group["lr"] = rate


def copied(value):
    """The rate itself, or a copy of one that is a tensor."""
    return value.clone() if isinstance(value, _C.Tensor) else value


def watch_step(optimizer):
    """Lets a schedule see whether `optimizer.step` was called."""
    step = optimizer.step
    if getattr(step, "_wrapped_by_lr_sched", False):
        return
    owner = weakref.ref(optimizer)
    function = getattr(step, "__func__", None)

    def counted(*args, **kwargs):
        self = owner()
        self._opt_called = True
        if function is not None:
            return function(self, *args, **kwargs)
        return step(*args, **kwargs)

    counted._wrapped_by_lr_sched = True
    optimizer.step = counted


class LRScheduler:
    """Base class of the schedules. A subclass defines `get_lr()`, a rate for each group.

    Args:
        optimizer: the optimizer whose param_groups' "lr" is set.
        last_epoch: the number of steps taken, -1 at the start; to resume, the groups need
            "initial_lr".

    >>> opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
    >>> class Halved(torch.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [rate / 2 for rate in self.base_lrs]
    >>> Halved(opt).get_last_lr()
    [0.25]
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch=-1):
        self._attach(optimizer)
        if last_epoch == -1:
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", copied(group["lr"]))
        else:
            for i, group in enumerate(optimizer.param_groups):
                if "initial_lr" not in group:
                    raise KeyError(
                        f"param 'initial_lr' is not specified in param_groups[{i}] when resuming "
                        "scheduler with last_epoch >= 0.\nThis typically happens when:\n1. You're "
                        "trying to resume training from a checkpoint but haven't properly loaded "
                        "the optimizer state\n2. You're using last_epoch >= 0 for a fresh training "
                        "run (not recommended)"
                    )
        self.base_lrs = [copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        watch_step(optimizer)
        self._initial_step()

    def _attach(self, optimizer):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        self.step()
        self._is_initial = False

    def state_dict(self):
        """Everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        """Restores a `state_dict`."""
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        """The rates set last, one for each group.

        >>> opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
        >>> torch.optim.lr_scheduler.StepLR(opt, 1).get_last_lr()
        [0.5]
        """
        return [copied(rate) for rate in self._last_lr]

    def get_lr(self):
        """The rates to set now; each schedule defines it."""
        raise NotImplementedError

    def step(self, epoch=None):
        """Goes on to the next rate; call it after `optimizer.step()`.

        Args:
            epoch: go to this one instead (deprecated).
        """
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warnings.warn(STEP_OVERRIDDEN, UserWarning, stacklevel=2)
            elif not getattr(self.optimizer, "_opt_called", False):
                warnings.warn(STEP_ORDER, UserWarning, stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_GIVEN, UserWarning, stacklevel=2)
        self._set_rates(epoch)

    def _set_rates(self, epoch=None):
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                closed = getattr(self, "_get_closed_form_lr", self.get_lr)
                rates = closed()
        finally:
            self._get_lr_called_within_step = False
        for group, rate in zip(self.optimizer.param_groups, rates, strict=False):
            set_rate(group, rate)
        self._last_lr = [copied(group["lr"]) for group in self.optimizer.param_groups]

    def _rates(self):
        """The groups' current rates; warns when called by a program."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )
        return [group["lr"] for group in self.optimizer.param_groups]
