"""Normal: the bell curve."""

import math

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.distributions.distribution import LOG_SQRT_2PI
from rushlight.distributions.exp_family import ExponentialFamily
from rushlight.distributions.location_scale import LocationScale


class Normal(LocationScale, ExponentialFamily):
    """The normal distribution: density exp(-((x - loc) / scale)^2 / 2) / (scale sqrt(2 pi)).

    Args:
        loc: the mean.
        scale: the standard deviation.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: loc and scale broadcast to the batch shape; an event is ().

    Raises:
        ValueError: for parameters that are none, unless validate_args is False.

    >>> torch.distributions.Normal(0.0, 1.0).log_prob(torch.tensor(0.0))
    tensor(-0.9189)
    """

    @property
    def stddev(self):
        """scale"""
        return self.scale

    @property
    def variance(self):
        """scale^2"""
        return self.stddev.pow(2)

    def sample(self, sample_shape=()):
        """Draws, without gradient."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return _C.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape=()):
        """Draws as loc + scale * noise."""
        shape = self._extended_shape(sample_shape)
        like = {"dtype": self.loc.dtype, "device": self.loc.device}
        noise = _C.normal(_C.zeros(shape, **like), _C.ones(shape, **like))
        return self.loc + noise * self.scale

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        variance = self.scale**2
        return -((value - self.loc) ** 2) / (2 * variance) - self.scale.log() - LOG_SQRT_2PI

    def cdf(self, value):
        """The probability that a draw is at most `value`."""
        self._check_value(value)
        return 0.5 * (1 + _C.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value):
        """The inverse of cdf(): the quantile at probability `value`."""
        return self.loc + self.scale * _C.erfinv(2 * value - 1) * math.sqrt(2)

    _mean_carrier_measure = 0

    @property
    def _natural_params(self):
        return (self.loc / self.scale.square(), -0.5 / self.scale.square())

    def _log_normalizer(self, x, y):
        return -0.25 * x.square() / y + 0.5 * (-math.pi / y).log()

    def entropy(self):
        """The entropy, in nats."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + _C.log(self.scale)
