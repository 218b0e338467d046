"""HalfCauchy: the size of a Cauchy number."""

import math

from rushlight import _C
from rushlight.distributions._absolute_value import AbsoluteValue
from rushlight.distributions.cauchy import Cauchy


class HalfCauchy(AbsoluteValue):
    """|x| of a Cauchy variable around 0.

    Args:
        scale: its width.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: scale of the batch shape; an event is ().

    >>> torch.distributions.HalfCauchy(1.0).cdf(torch.tensor(1.0))
    tensor(0.5000)
    """

    def __init__(self, scale, validate_args=None):
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    @property
    def mean(self):
        """Infinite."""
        return _C.full_like(self.scale, math.inf)

    @property
    def variance(self):
        """Infinite."""
        return _C.full_like(self.scale, math.inf)
