"""An optimizer whose parameters an averager brings together now and then."""

from __future__ import annotations

import warnings

from rushlight.optim import Optimizer

__all__ = ["PostLocalSGDOptimizer"]


class PostLocalSGDOptimizer(Optimizer):
    """Steps of another optimizer, each followed by averager.average_parameters().

    Args:
        optim: the optimizer.
        averager: a ModelAverager.

    >>> averager = PeriodicModelAverager(period=4, warmup_steps=100)  # doctest: +SKIP
    >>> optimizer = PostLocalSGDOptimizer(optimizer, averager)  # doctest: +SKIP
    """

    def __init__(self, optim, averager):
        self.optim, self.averager = optim, averager
        self.param_groups = optim.param_groups

    @property
    def state(self):
        """That of the optimizer."""
        return self.optim.state

    def __repr__(self):
        return repr(self.optim)

    def state_dict(self):
        """The optimizer's, and "step", the averager's."""
        return {**self.optim.state_dict(), "step": self.averager.step}

    def load_state_dict(self, state_dict):
        """Takes both up again; without "step" the averager begins with its first step."""
        state_dict = dict(state_dict)
        if "step" not in state_dict:
            warnings.warn(
                "Loaded state dict does not contain a step counter for an averager. Setting step "
                "counter to 0.",
                stacklevel=2,
            )
        self.averager.step = state_dict.pop("step", 0)
        self.optim.load_state_dict(state_dict)
        self.param_groups = self.optim.param_groups

    def step(self, closure=None):
        """A step of the optimizer, then the averager's."""
        loss = self.optim.step(closure)
        self.averager.average_parameters(params=self.param_groups)
        return loss

    def zero_grad(self, set_to_none=True):
        """Clears the gradients."""
        self.optim.zero_grad(set_to_none=set_to_none)

    def add_param_group(self, param_group):
        """A group of parameters more."""
        self.optim.add_param_group(param_group)
