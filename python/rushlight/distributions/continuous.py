"""Distributions of real numbers: Normal, Uniform, Exponential, Laplace."""

import math

from rushlight import _C
from rushlight._modes import no_grad
from rushlight.distributions import constraints
from rushlight.distributions.distribution import LOG_SQRT_2PI, Distribution, broadcast_all


class _LocationScale(Distribution):
    """A shape moved by loc and stretched by scale; loc is the mean and the most probable value."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self):
        """loc"""
        return self.loc

    mode = mean


class Normal(_LocationScale):
    """The normal distribution.

    Args:
        loc: the mean.
        scale: the standard deviation.

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
        """The probability of a draw up to `value`."""
        self._check_value(value)
        return 0.5 * (1 + _C.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value):
        """The value up to which a draw lies with this probability."""
        return self.loc + self.scale * _C.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self):
        """The entropy, in nats."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + _C.log(self.scale)


class Uniform(Distribution):
    """The same density everywhere between two bounds.

    Args:
        low: the lower bound, included.
        high: the upper bound.

    >>> torch.distributions.Uniform(0.0, 2.0).log_prob(torch.tensor(1.0))
    tensor(-0.6931)
    """

    arg_constraints = {"low": constraints.real, "high": constraints.real}
    has_rsample = True

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)
        if self._validate_args:
            self._check_parameter("low", constraints.less_than(self.high))

    @property
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
        """The probability of a draw up to `value`."""
        self._check_value(value)
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value):
        """The value up to which a draw lies with this probability."""
        return value * (self.high - self.low) + self.low

    def entropy(self):
        """The entropy, in nats."""
        return _C.log(self.high - self.low)


class Exponential(Distribution):
    """The exponential distribution.

    Args:
        rate: 1 / mean.

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
        """The probability of a draw up to `value`."""
        self._check_value(value)
        return 1 - _C.exp(-self.rate * value)

    def icdf(self, value):
        """The value up to which a draw lies with this probability."""
        return -_C.log1p(-value) / self.rate

    def entropy(self):
        """The entropy, in nats."""
        return 1.0 - _C.log(self.rate)


class Laplace(_LocationScale):
    """The two-sided exponential distribution.

    Args:
        loc: the mean.
        scale: its width.

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
        """The probability of a draw up to `value`."""
        self._check_value(value)
        off = value - self.loc
        return 0.5 - 0.5 * off.sign() * _C.expm1(-off.abs() / self.scale)

    def icdf(self, value):
        """The value up to which a draw lies with this probability."""
        term = value - 0.5
        return self.loc - self.scale * term.sign() * _C.log1p(-2 * term.abs())

    def entropy(self):
        """The entropy, in nats."""
        return 1 + _C.log(2 * self.scale)
