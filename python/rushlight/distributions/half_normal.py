"""HalfNormal: the absolute value of a normal variable."""

import math

from rushlight.distributions._absolute_value import AbsoluteValue
from rushlight.distributions.normal import Normal


class HalfNormal(AbsoluteValue):
    """|x| of a normal variable of mean 0.

    Args:
        scale: the standard deviation of the normal variable.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: scale of the batch shape; an event is ().

    >>> torch.distributions.HalfNormal(1.0).mean
    tensor(0.7979)
    """

    def __init__(self, scale, validate_args=None):
        super().__init__(Normal(0, scale, validate_args=False), validate_args)

    @property
    def mean(self):
        """scale sqrt(2 / pi)"""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self):
        """scale^2 (1 - 2 / pi)"""
        return self.scale.pow(2) * (1 - 2 / math.pi)
