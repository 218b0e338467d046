"""Schedules in closed form: one formula in the number of steps t."""

import math
from bisect import bisect_right
from collections import Counter

from rushlight.optim._schedules.base import LRScheduler

__all__ = [
    "ConstantLR", "CosineAnnealingLR", "ExponentialLR", "LambdaLR", "LinearLR", "MultiStepLR",
    "MultiplicativeLR", "PolynomialLR", "StepLR",
]  # fmt: skip


class _FunctionLR(LRScheduler):
    """One function for each group; a function that is an object has its attributes saved."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            self.lr_lambdas = [lr_lambda] * count
        else:
            if len(lr_lambda) != count:
                raise ValueError(f"Expected {count} lr_lambdas, but got {len(lr_lambda)}")
            self.lr_lambdas = list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def state_dict(self):
        state = {
            key: value
            for key, value in self.__dict__.items()
            if key not in ("optimizer", "lr_lambdas")
        }
        state["lr_lambdas"] = [
            None if isinstance(f, _FUNCTION) else dict(f.__dict__) for f in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict):
        state = dict(state_dict)
        saved = state.pop("lr_lambdas")
        self.__dict__.update(state)
        for f, attributes in zip(self.lr_lambdas, saved, strict=False):
            if attributes is not None:
                f.__dict__.update(attributes)


_FUNCTION = type(lambda: None)


class LambdaLR(_FunctionLR):
    """base * f(t) at step t.

    Args:
        optimizer: the optimizer whose rates are set.
        lr_lambda: f, a function of the step, or one for each group.
        last_epoch: the number of steps taken, -1 at the start.

    >>> opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
    >>> torch.optim.lr_scheduler.LambdaLR(opt, lambda t: 0.5 / (1 + t)).get_last_lr()
    [0.25]
    """

    def get_lr(self):
        """base * f(t)."""
        self._rates()
        return [
            base * f(self.last_epoch)
            for f, base in zip(self.lr_lambdas, self.base_lrs, strict=False)
        ]


class MultiplicativeLR(_FunctionLR):
    """The last rate times f(t) at step t.

    Args:
        optimizer: the optimizer whose rates are set.
        lr_lambda: f, a function of the step, or one for each group.
        last_epoch: the number of steps taken, -1 at the start.

    >>> opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
    >>> torch.optim.lr_scheduler.MultiplicativeLR(opt, lambda t: 0.5).get_last_lr()
    [0.5]
    """

    def get_lr(self):
        """The last rate times f(t)."""
        rates = self._rates()
        if self._is_initial:
            return rates
        return [rate * f(self.last_epoch) for f, rate in zip(self.lr_lambdas, rates, strict=False)]


class StepLR(LRScheduler):
    """base * gamma^(t // step_size) at step t.

    Args:
        optimizer: the optimizer whose rates are set.
        step_size: steps between reductions.
        gamma: factor of a reduction.
        last_epoch: the number of steps taken, -1 at the start.

    >>> opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
    >>> schedule = torch.optim.lr_scheduler.StepLR(opt, step_size=1, gamma=0.5)
    >>> opt.step()
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The last rate, times gamma every step_size steps."""
        rates = self._rates()
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return rates
        return [rate * self.gamma for rate in rates]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """The rate times gamma at each milestone.

    Args:
        optimizer: the optimizer whose rates are set.
        milestones: the steps at which the rate is reduced.
        gamma: factor of a reduction.
        last_epoch: the number of steps taken, -1 at the start.

    >>> opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
    >>> torch.optim.lr_scheduler.MultiStepLR(opt, [30, 80]).get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones = Counter(step for step in milestones)  # which Ctrl-C can end
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The last rate, times gamma at a milestone."""
        rates = self._rates()
        if self.last_epoch not in self.milestones:
            return rates
        return [rate * self.gamma ** self.milestones[self.last_epoch] for rate in rates]

    def _get_closed_form_lr(self):
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """base * factor for the first total_iters steps, then base.

    Args:
        optimizer: the optimizer whose rates are set.
        factor: of the first steps, from 0 to 1.
        total_iters: number of those steps.
        last_epoch: the number of steps taken, -1 at the start.

    >>> opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
    >>> torch.optim.lr_scheduler.ConstantLR(opt, factor=0.5).get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The factor goes in at step 0 and out at total_iters."""
        rates = self._rates()
        if self.last_epoch == 0:
            return [rate * self.factor for rate in rates]
        if self.last_epoch != self.total_iters:
            return rates
        return [rate * (1.0 / self.factor) for rate in rates]

    def _get_closed_form_lr(self):
        late = self.last_epoch >= self.total_iters
        return [base * (self.factor + late * (1 - self.factor)) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """base times a factor that goes linearly from start_factor to end_factor.

    Args:
        optimizer: the optimizer whose rates are set.
        start_factor, end_factor: the factor at step 0 and from step total_iters on.
        total_iters: steps from the one to the other.
        last_epoch: the number of steps taken, -1 at the start.

    >>> opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
    >>> torch.optim.lr_scheduler.LinearLR(opt, start_factor=0.5).get_last_lr()
    [0.25]
    """

    def __init__(
        self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1
    ):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal "
                "to 1."
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The last rate times the ratio of two neighbouring factors."""
        rates = self._rates()
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in rates]
        if self._is_initial or self.last_epoch > self.total_iters:
            return rates
        change = self.end_factor - self.start_factor
        ratio = 1.0 + change / (
            self.total_iters * self.start_factor + (self.last_epoch - 1) * change
        )
        return [rate * ratio for rate in rates]

    def _get_closed_form_lr(self):
        change = self.end_factor - self.start_factor
        passed = min(self.total_iters, self.last_epoch)
        return [
            base * (self.start_factor + change * passed / self.total_iters)
            for base in self.base_lrs
        ]


class ExponentialLR(LRScheduler):
    """base * gamma^t at step t.

    Args:
        optimizer: the optimizer whose rates are set.
        gamma: factor of each step.
        last_epoch: the number of steps taken, -1 at the start.

    >>> opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
    >>> torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.9).get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The last rate times gamma."""
        rates = self._rates()
        if self._is_initial:
            return rates
        return [rate * self.gamma for rate in rates]

    def _get_closed_form_lr(self):
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """base * (1 - t / total_iters)^power at step t, 0 from total_iters on.

    Args:
        optimizer: the optimizer whose rates are set.
        total_iters: steps to the end.
        power: of the polynomial.
        last_epoch: the number of steps taken, -1 at the start.

    >>> opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
    >>> torch.optim.lr_scheduler.PolynomialLR(opt, total_iters=4).get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The last rate times the ratio of two neighbouring factors."""
        rates = self._rates()
        if self._is_initial or self.last_epoch > self.total_iters:
            return rates
        now = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return [rate * (now / before) ** self.power for rate in rates]

    def _get_closed_form_lr(self):
        passed = min(self.total_iters, self.last_epoch)
        return [base * (1.0 - passed / self.total_iters) ** self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """eta_min + (base - eta_min) * (1 + cos(pi t / T_max)) / 2 at step t (Loshchilov and Hutter,
    2017).

    Args:
        optimizer: the optimizer whose rates are set.
        T_max: steps from the highest rate to the lowest.
        eta_min: the lowest rate.
        last_epoch: the number of steps taken, -1 at the start.

    >>> opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
    >>> schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=2)
    >>> opt.step()
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """From the last rate, by the ratio of two neighbouring cosines."""
        rates = self._rates()
        t, span = self.last_epoch, self.T_max
        if self._is_initial:
            return rates
        if self._step_count == 1 and t > 0:
            return self._get_closed_form_lr()
        if (t - 1 - span) % (2 * span) == 0:
            step = (1 - math.cos(math.pi / span)) / 2
            return [
                rate + (base - self.eta_min) * step
                for rate, base in zip(rates, self.base_lrs, strict=False)
            ]
        now = 1 + math.cos(math.pi * t / span)
        before = 1 + math.cos(math.pi * (t - 1) / span)
        return [now / before * (rate - self.eta_min) + self.eta_min for rate in rates]

    def _get_closed_form_lr(self):
        share = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return [self.eta_min + (base - self.eta_min) * share / 2 for base in self.base_lrs]
