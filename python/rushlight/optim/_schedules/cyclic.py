"""Schedules that go up and down, some with the momentum against them."""

import math

from rushlight import _C
from rushlight.optim._schedules.base import LRScheduler, copied

__all__ = ["CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR"]


def _for_each(optimizer, value, name):
    """A value for each group, from one or from a list."""
    count = len(optimizer.param_groups)
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise ValueError(
                f"{name} must have the same length as optimizer.param_groups. {name} has "
                f"{len(value)} values, param_groups has {count}."
            )
        return list(value)
    return [value] * count


class CosineAnnealingWarmRestarts(LRScheduler):
    """Cosine annealing that starts again after T_0, T_0 T_mult, ... steps (Loshchilov and Hutter,
    2017).

    Args:
        optimizer: the optimizer whose rates are set.
        T_0: steps to the first restart.
        T_mult: each cycle is so many times longer than the one before.
        eta_min: the smallest rate.
        last_epoch: the number of steps taken, -1 at the start.

    >>> opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
    >>> torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=10).get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """eta_min + (base - eta_min) * (1 + cos(pi T_cur / T_i)) / 2."""
        self._rates()
        share = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * share / 2 for base in self.base_lrs]

    def step(self, epoch=None):
        """Goes on; `epoch` may be a fraction, to move within an epoch."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur = self.T_cur + 1
            if self.T_cur >= self.T_i:
                self.T_cur = self.T_cur % self.T_i
                self.T_i = self.T_i * self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            if epoch < self.T_0:
                self.T_i, self.T_cur = self.T_0, epoch
            elif self.T_mult == 1:
                self.T_i, self.T_cur = self.T_0, epoch % self.T_0
            else:
                n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
                passed = self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
                self.T_cur, self.T_i = epoch - passed, self.T_0 * self.T_mult**n
        self.last_epoch = math.floor(epoch) - 1
        self._set_rates()


class CyclicLR(LRScheduler):
    """From base_lr up to max_lr and down again, over and over (Smith, 2017).

    Args:
        optimizer: the optimizer whose rates are set.
        base_lr, max_lr: the bounds, a float or one for each group.
        step_size_up, step_size_down: steps up and steps down; as many down as up if None.
        mode: "triangular", "triangular2" (each peak half as high) or "exp_range" (gamma^t).
        gamma: of "exp_range".
        scale_fn: a function instead of the mode, of the cycle or, with `scale_mode` "iterations",
            of the step.
        scale_mode: "cycle" or "iterations".
        cycle_momentum: move the momentum the other way.
        base_momentum, max_momentum: its bounds.
        last_epoch: the number of steps taken, -1 at the start.

    >>> opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5, momentum=0.9)
    >>> torch.optim.lr_scheduler.CyclicLR(opt, base_lr=0.1, max_lr=0.2).get_last_lr()
    [0.1]
    """

    def __init__(
        self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None,
        mode="triangular", gamma=1.0, scale_fn=None, scale_mode="cycle", cycle_momentum=True,
        base_momentum=0.8, max_momentum=0.9, last_epoch=-1,
    ):  # fmt: skip
        self._attach(optimizer)
        lows = _for_each(optimizer, base_lr, "base_lr")
        if last_epoch == -1:
            for low, group in zip(lows, optimizer.param_groups, strict=False):
                if isinstance(group["lr"], _C.Tensor):
                    group["lr"].fill_(float(low))
                else:
                    group["lr"] = low
        self.max_lrs = _for_each(optimizer, max_lr, "max_lr")
        up = float(step_size_up)
        down = float(step_size_down) if step_size_down is not None else up
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._start_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = [copied(low) for low in lows]

    def _start_momentum(self, optimizer, low, high, last_epoch):
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
            )
        self.use_beta1 = "betas" in optimizer.defaults
        self.base_momentums = _for_each(optimizer, low, "base_momentum")
        self.max_momentums = _for_each(optimizer, high, "max_momentum")
        if last_epoch == -1:
            for top, bottom, group in zip(
                self.max_momentums, self.base_momentums, optimizer.param_groups, strict=False
            ):
                set_momentum(group, top, self.use_beta1)
                group["max_momentum"], group["base_momentum"] = top, bottom

    def scale_fn(self, x):
        """The height of the peak for `x`, the cycle or the step."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        if self.mode == "triangular2":
            return 1 / (2.0 ** (x - 1))
        return self.gamma**x

    def get_lr(self):
        """The rates on the triangle; moves the momentum too."""
        self._rates()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for low, high, group in zip(
                self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=False
            ):
                set_momentum(group, high - (high - low) * height * scale, self.use_beta1)
        return [
            low + (high - low) * height * scale
            for low, high in zip(self.base_lrs, self.max_lrs, strict=False)
        ]

    def state_dict(self):
        """Everything but the optimizer; a scale_fn that is a plain function is left out."""
        state = super().state_dict()
        f = state.pop("_scale_fn_custom")
        state["_scale_fn_custom"] = None
        if f is not None and not isinstance(f, type(lambda: None)):
            state["_scale_fn_custom"] = dict(f.__dict__)
        return state

    def load_state_dict(self, state_dict):
        state = dict(state_dict)
        attributes = state.pop("_scale_fn_custom")
        super().load_state_dict(state)
        if attributes is not None:
            self._scale_fn_custom.__dict__.update(attributes)


class OneCycleLR(LRScheduler):
    """Up from max_lr / div_factor to max_lr, then down to almost 0 (Smith and Topin, 2019).

    Args:
        optimizer: the optimizer whose rates are set.
        max_lr: the highest rate, a float or one for each group.
        total_steps: the length; or
        epochs, steps_per_epoch: whose product is the length.
        pct_start: the share of steps that go up.
        anneal_strategy: "cos" or "linear".
        cycle_momentum: move the momentum the other way.
        base_momentum, max_momentum: its bounds.
        div_factor: max_lr over the first rate.
        final_div_factor: the first rate over the last.
        three_phase: go down to the first rate, then to the last.
        last_epoch: the number of steps taken, -1 at the start.

    >>> opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5, momentum=0.9)
    >>> schedule = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=1.0, total_steps=10)
    >>> round(schedule.get_last_lr()[0], 4)
    0.04
    """

    def __init__(
        self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None,
        pct_start=0.3, anneal_strategy="cos", cycle_momentum=True, base_momentum=0.85,
        max_momentum=0.95, div_factor=25.0, final_div_factor=1e4, three_phase=False,
        last_epoch=-1,
    ):  # fmt: skip
        self._attach(optimizer)
        self.total_steps = _length(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        self._schedule_phases = self._phases(pct_start, three_phase)
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        tops = _for_each(optimizer, max_lr, "max_lr")
        if last_epoch == -1:
            for top, group in zip(tops, optimizer.param_groups, strict=False):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._start_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _phases(self, pct_start, three_phase):
        up_end = float(pct_start * self.total_steps) - 1

        def phase(end, start_lr, end_lr, start_momentum, end_momentum):
            return {
                "end_step": end, "start_lr": start_lr, "end_lr": end_lr,
                "start_momentum": start_momentum, "end_momentum": end_momentum,
            }  # fmt: skip

        up = phase(up_end, "initial_lr", "max_lr", "max_momentum", "base_momentum")
        last = self.total_steps - 1
        if not three_phase:
            return [up, phase(last, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        return [
            up,
            phase(
                float(2 * pct_start * self.total_steps) - 2,
                "max_lr", "initial_lr", "base_momentum", "max_momentum",
            ),
            phase(last, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
        ]  # fmt: skip

    def _start_momentum(self, optimizer, low, high, last_epoch):
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
            )
        self.use_beta1 = "betas" in optimizer.defaults
        tops = _for_each(optimizer, high, "max_momentum")
        bottoms = _for_each(optimizer, low, "base_momentum")
        if last_epoch == -1:
            for top, bottom, group in zip(tops, bottoms, optimizer.param_groups, strict=False):
                set_momentum(group, top, self.use_beta1)
                group["max_momentum"], group["base_momentum"] = top, bottom

    def _between(self, start, end, share):
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)
        return (end - start) * share + start

    def get_lr(self):
        """The rates of the phase that the step is in; moves the momentum too."""
        self._rates()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        rates = []
        for group in self.optimizer.param_groups:
            begin = 0.0
            for i, phase in enumerate(self._schedule_phases):
                end = phase["end_step"]
                if step <= end or i == len(self._schedule_phases) - 1:
                    share = (step - begin) / (end - begin)
                    rates.append(
                        self._between(group[phase["start_lr"]], group[phase["end_lr"]], share)
                    )
                    if self.cycle_momentum:
                        momentum = self._between(
                            group[phase["start_momentum"]], group[phase["end_momentum"]], share
                        )
                        set_momentum(group, momentum, self.use_beta1)
                    break
                begin = end
        return rates


def _length(total_steps, epochs, steps_per_epoch):
    if total_steps is not None:
        if total_steps <= 0 or not isinstance(total_steps, int):
            raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
        return total_steps
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    if not isinstance(epochs, int) or epochs <= 0:
        raise ValueError(f"Expected positive integer epochs, but got {epochs}")
    if not isinstance(steps_per_epoch, int) or steps_per_epoch <= 0:
        raise ValueError(f"Expected positive integer steps_per_epoch, but got {steps_per_epoch}")
    return epochs * steps_per_epoch


def set_momentum(group, momentum, use_beta1):
    """Sets a group's momentum, which Adam calls the first beta."""
    if use_beta1:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum
