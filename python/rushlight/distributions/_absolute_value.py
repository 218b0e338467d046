"""What HalfNormal and HalfCauchy share: the absolute value of a variable symmetric around 0."""

import math

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.transformed_distribution import TransformedDistribution
from rushlight.distributions.transforms import AbsTransform


class AbsoluteValue(TransformedDistribution):
    """|x|, x drawn from the distribution `base`, which has a scale."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, base, validate_args=None):
        super().__init__(base, AbsTransform(), validate_args=validate_args)
        if self._validate_args:  # a property, which Distribution() does not check
            self._check_parameter("scale", constraints.positive)

    @property
    def scale(self):
        """The scale of x."""
        return self.base_dist.scale

    @property
    def mode(self):
        """0"""
        return _C.zeros_like(self.scale)

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        both = self.base_dist.log_prob(value) + math.log(2)
        return both.masked_fill(value < 0, -math.inf)

    def cdf(self, value):
        """The probability that a draw is at most `value`."""
        self._check_value(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value):
        """The inverse of cdf(): the quantile at probability `value`."""
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self):
        """The entropy, in nats."""
        return self.base_dist.entropy() - math.log(2)
