"""Laplace: the exponential distribution to both sides."""

import math

from rushlight import _C
from rushlight.distributions.location_scale import LocationScale


class Laplace(LocationScale):
    """The two-sided exponential distribution.

    Args:
        loc: the mean.
        scale: its width.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: loc and scale broadcast to the batch shape; an event is ().

    >>> torch.distributions.Laplace(0.0, 1.0).log_prob(torch.tensor(0.0))
    tensor(-0.6931)
    """

    @property
    def variance(self):
        """2 scale^2"""
        return 2 * self.scale.pow(2)

    @property
    def stddev(self):
        """sqrt(2) scale"""
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape=()):
        """Draws through which gradients flow."""
        from rushlight import finfo

        shape = self._extended_shape(sample_shape)
        noise = _C.empty(shape, dtype=self.loc.dtype, device=self.loc.device)
        noise.uniform_(finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * noise.sign() * _C.log1p(-noise.abs())

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        return -_C.log(2 * self.scale) - _C.abs(value - self.loc) / self.scale

    def cdf(self, value):
        """The probability that a draw is at most `value`."""
        self._check_value(value)
        off = value - self.loc
        return 0.5 - 0.5 * off.sign() * _C.expm1(-off.abs() / self.scale)

    def icdf(self, value):
        """The inverse of cdf(): the quantile at probability `value`."""
        term = value - 0.5
        return self.loc - self.scale * term.sign() * _C.log1p(-2 * term.abs())

    def entropy(self):
        """The entropy, in nats."""
        return 1 + _C.log(2 * self.scale)
