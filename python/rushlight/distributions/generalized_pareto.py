"""GeneralizedPareto: what exceeds a high threshold."""

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.distribution import Distribution, broadcast_all


class GeneralizedPareto(Distribution):
    """The distribution of survival (1 + c z)^(-1 / c), where z = (x - loc) / scale.

    Args:
        loc: the smallest value.
        scale: the scale.
        concentration: c, the shape; at 0 it is an exponential distribution.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: loc, scale and concentration broadcast to the batch shape; an event is ().

    >>> torch.distributions.GeneralizedPareto(0.0, 1.0, 0.25).mean
    tensor(1.3333)
    """

    arg_constraints = {
        "loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real
    }  # fmt: skip
    has_rsample = True

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        """From loc on; up to an end where the concentration is negative."""
        end = self.loc - self.scale / self.concentration
        end = _C.where(self.concentration < 0, end, _C.full_like(end, float("inf")))
        return constraints.interval(self.loc, end)

    def _shape(self):
        """Where the concentration is 0, and it with ones there."""
        zero = self.concentration.abs() <= 1e-8
        return zero, _C.where(zero, _C.ones_like(self.concentration), self.concentration)

    def rsample(self, sample_shape=()):
        """Draws through which gradients flow."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(_C.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        z, (zero, c) = (value - self.loc) / self.scale, self._shape()
        return _C.where(zero, -z, -(1 + 1 / c) * _C.log1p(c * z)) - self.scale.log()

    def log_survival_function(self, value):
        """The logarithm of the probability of a larger value."""
        self._check_value(value)
        z, (zero, c) = (value - self.loc) / self.scale, self._shape()
        return _C.where(zero, -z, -_C.log1p(c * z) / c)

    def log_cdf(self, value):
        """The logarithm of the probability of a smaller value."""
        return _C.log1p(-self.log_survival_function(value).exp())

    def cdf(self, value):
        """The probability that a draw is at most `value`."""
        return self.log_cdf(value).exp()

    def icdf(self, value):
        """The inverse of cdf(): the quantile at probability `value`."""
        (zero, c), level = self._shape(), _C.log1p(-value)
        return self.loc + self.scale * _C.where(zero, -level, _C.expm1(-c * level) / c)

    @property
    def mean(self):
        """loc + scale / (1 - c), infinite from c = 1 on."""
        mean = self.loc + self.scale / (1 - self.concentration)
        return mean.masked_fill(self.concentration >= 1, float("inf"))

    @property
    def variance(self):
        """scale^2 / ((1 - c)^2 (1 - 2 c)), infinite from c = 1 / 2 on."""
        c = self.concentration
        variance = self.scale.square() / ((1 - c).square() * (1 - 2 * c))
        return variance.masked_fill(c >= 0.5, float("inf"))

    @property
    def mode(self):
        """loc"""
        return self.loc

    def entropy(self):
        """The entropy, in nats."""
        return self.scale.log() + self.concentration + 1
