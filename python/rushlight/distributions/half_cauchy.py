"""HalfCauchy: the size of a Cauchy number."""

import math

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.cauchy import Cauchy
from rushlight.distributions.transformed_distribution import TransformedDistribution
from rushlight.distributions.transforms import AbsTransform


class HalfCauchy(TransformedDistribution):
    """|x| of a Cauchy number around 0.

    Args:
        scale: its width.

    >>> torch.distributions.HalfCauchy(1.0).cdf(torch.tensor(1.0))
    tensor(0.5000)
    """

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale, validate_args=None):
        base = Cauchy(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self):
        """The width."""
        return self.base_dist.scale

    @property
    def mean(self):
        """Infinite."""
        return _C.full_like(self.scale, math.inf)

    @property
    def mode(self):
        """0"""
        return _C.zeros_like(self.scale)

    @property
    def variance(self):
        """Infinite."""
        return _C.full_like(self.scale, math.inf)

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        both = self.base_dist.log_prob(value) + math.log(2)
        return both.masked_fill(value < 0, -math.inf)

    def cdf(self, value):
        """The probability of a draw up to `value`."""
        self._check_value(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value):
        """The value up to which a draw lies with this probability."""
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self):
        """The entropy, in nats."""
        return self.base_dist.entropy() - math.log(2)
