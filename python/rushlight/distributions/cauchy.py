"""Cauchy: so many far values that there is no mean."""

import math

from rushlight import _C
from rushlight.distributions.location_scale import LocationScale


class Cauchy(LocationScale):
    """The Cauchy distribution: density 1 / (pi scale (1 + ((x - loc) / scale)^2)).

    Args:
        loc: the middle.
        scale: half the width at half the height.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: loc and scale broadcast to the batch shape; an event is ().

    >>> torch.distributions.Cauchy(0.0, 1.0).cdf(torch.tensor(1.0))
    tensor(0.7500)
    """

    @property
    def mean(self):
        """NaN: there is none."""
        return _C.full_like(self.loc, float("nan"))

    @property
    def variance(self):
        """Infinite."""
        return _C.full_like(self.loc, float("inf"))

    def rsample(self, sample_shape=()):
        """Draws as loc + scale * noise."""
        shape = self._extended_shape(sample_shape)
        noise = _C.empty(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + noise.cauchy_() * self.scale

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        off = (value - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - (off**2).log1p()

    def cdf(self, value):
        """The probability that a draw is at most `value`."""
        self._check_value(value)
        return _C.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value):
        """The inverse of cdf(): the quantile at probability `value`."""
        return _C.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self):
        """The entropy, in nats."""
        return math.log(4 * math.pi) + self.scale.log()
