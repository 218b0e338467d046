"""Uniform: the same density between two bounds."""

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.distribution import Distribution, broadcast_all


class Uniform(Distribution):
    """The uniform distribution on [low, high).

    Args:
        low: the lower bound, included.
        high: the upper bound.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: low and high broadcast to the batch shape; an event is ().

    >>> torch.distributions.Uniform(0.0, 2.0).log_prob(torch.tensor(1.0))
    tensor(-0.6931)
    """

    has_rsample = True

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)

    @property
    def arg_constraints(self):
        """low below high."""
        return {
            "low": constraints.less_than(self.high),
            "high": constraints.greater_than(self.low),
        }

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        """From low to high."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self):
        """The middle."""
        return (self.high + self.low) / 2

    @property
    def mode(self):
        """NaN: no value is more probable than others."""
        return float("nan") * self.high

    @property
    def variance(self):
        """(high - low)^2 / 12"""
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape=()):
        """Draws as low + (high - low) * noise."""
        shape = self._extended_shape(sample_shape)
        noise = _C.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + noise * (self.high - self.low)

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        inside = (self.low <= value) & (self.high > value)
        return _C.log(inside.type_as(self.low)) - _C.log(self.high - self.low)

    def cdf(self, value):
        """The probability that a draw is at most `value`."""
        self._check_value(value)
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value):
        """The inverse of cdf(): the quantile at probability `value`."""
        return value * (self.high - self.low) + self.low

    def entropy(self):
        """The entropy, in nats."""
        return _C.log(self.high - self.low)
