"""Exponential: the time until something that happens at a constant rate."""

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.distribution import broadcast_all
from rushlight.distributions.exp_family import ExponentialFamily


class Exponential(ExponentialFamily):
    """The exponential distribution.

    Args:
        rate: 1 / mean.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: rate of the batch shape; an event is ().

    >>> torch.distributions.Exponential(2.0).mean
    tensor(0.5000)
    """

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self):
        """1 / rate"""
        return self.rate.reciprocal()

    stddev = mean

    @property
    def mode(self):
        """0"""
        return _C.zeros_like(self.rate)

    @property
    def variance(self):
        """1 / rate^2"""
        return self.rate.pow(-2)

    def rsample(self, sample_shape=()):
        """Draws as noise / rate."""
        shape = self._extended_shape(sample_shape)
        noise = _C.empty(shape, dtype=self.rate.dtype, device=self.rate.device)
        return noise.exponential_() / self.rate

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value):
        """The probability that a draw is at most `value`."""
        self._check_value(value)
        return 1 - _C.exp(-self.rate * value)

    def icdf(self, value):
        """The inverse of cdf(): the quantile at probability `value`."""
        return -_C.log1p(-value) / self.rate

    _mean_carrier_measure = 0

    @property
    def _natural_params(self):
        return (-self.rate,)

    def _log_normalizer(self, x):
        return -(-x).log()

    def entropy(self):
        """The entropy, in nats."""
        return 1.0 - _C.log(self.rate)
