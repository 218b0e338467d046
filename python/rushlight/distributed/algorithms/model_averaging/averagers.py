"""Averages of parameters, every so many steps."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod

from rushlight.distributed import _world
from rushlight.distributed.algorithms.model_averaging.utils import (
    average_parameters_or_parameter_groups,
)

__all__ = ["ModelAverager", "PeriodicModelAverager"]


class ModelAverager(ABC):
    """What averages parameters: average_parameters() is called after each step.

    Args:
        process_group: the default group where it is None.
    """

    def __init__(self, process_group=None):
        self.process_group = process_group if process_group is not None else _world._default()
        self.step = 0

    @abstractmethod
    def average_parameters(self, params):
        """Counts a step, and averages where it is time."""


class PeriodicModelAverager(ModelAverager):
    """Averages the parameters every `period` steps after the first warmup_steps.

    Args:
        period: steps between two averages; 1: each step.
        warmup_steps: steps without any, in which gradients are averaged instead.
        process_group: the default group where it is None.

    >>> averager = PeriodicModelAverager(period=4, warmup_steps=100)  # doctest: +SKIP
    >>> averager.average_parameters(model.parameters())  # doctest: +SKIP
    """

    def __init__(self, period, warmup_steps=0, process_group=None):
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        if period < 1:
            raise ValueError("Arg ``period`` must be a positive value.")
        if period == 1:
            warnings.warn(
                "When period is 1, no need to use model averaging because the communication cost "
                "of all-reducing parameters will be no less than the cost of all-reducing "
                "gradients by DistributedDataParallel in the backward pass. Therefore, only "
                "DistributedDataParallel should be used for this case.",
                stacklevel=2,
            )
        self.period, self.warmup_steps = period, warmup_steps

    def average_parameters(self, params):
        """Counts a step, and averages where it is time.

        Args:
            params: parameters, or an optimizer's groups of them.

        >>> averager.average_parameters(optimizer.param_groups)  # doctest: +SKIP
        """
        if self.step >= self.warmup_steps and (self.step - self.warmup_steps) % self.period == 0:
            average_parameters_or_parameter_groups(params, self.process_group)
        self.step += 1
