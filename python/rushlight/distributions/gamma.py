"""Gamma: waiting times of several events, and the family that others are made from."""

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.distribution import broadcast_all
from rushlight.distributions.exp_family import ExponentialFamily


class Gamma(ExponentialFamily):
    """The gamma distribution, of density proportional to x^(concentration - 1) exp(-rate x).

    Args:
        concentration: the shape.
        rate: the inverse of the scale.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: concentration and rate broadcast to the batch shape; an event is ().

    >>> torch.distributions.Gamma(2.0, 4.0).mean
    tensor(0.5000)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self):
        """concentration / rate"""
        return self.concentration / self.rate

    @property
    def mode(self):
        """(concentration - 1) / rate, or 0 where that is negative."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self):
        """concentration / rate^2"""
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape=()):
        """Draws through which gradients flow, also to the shape."""
        from rushlight import finfo

        shape = self._extended_shape(sample_shape)
        drawn = _C._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        drawn.detach().clamp_(min=finfo(drawn.dtype).tiny)  # so that its logarithm is finite
        return drawn

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        value = self._as_value(value)
        return (
            _C.xlogy(self.concentration, self.rate) + _C.xlogy(self.concentration - 1, value)
            - self.rate * value - _C.lgamma(self.concentration)
        )  # fmt: skip

    def _as_value(self, value):
        if not isinstance(value, _C.Tensor):
            value = _C.tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        self._check_value(value)
        return value

    def cdf(self, value):
        """The probability that a draw is at most `value`."""
        from rushlight.special import gammainc

        self._check_value(value)
        return gammainc(self.concentration, self.rate * value)

    _mean_carrier_measure = 0

    @property
    def _natural_params(self):
        return (self.concentration - 1, -self.rate)

    def _log_normalizer(self, x, y):
        return _C.lgamma(x + 1) - (x + 1) * (-y).log()

    def entropy(self):
        """The entropy, in nats."""
        return (
            self.concentration - _C.log(self.rate) + _C.lgamma(self.concentration)
            + (1 - self.concentration) * _C.digamma(self.concentration)
        )  # fmt: skip
