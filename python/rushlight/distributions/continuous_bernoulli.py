"""ContinuousBernoulli: values between 0 and 1, denser towards one end."""

import math

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.bernoulli import ProbsOrLogits
from rushlight.distributions.exp_family import ExponentialFamily
from rushlight.functional import broadcast_shapes
from rushlight.nn import functional as F


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """The distribution on [0, 1] of density proportional to probs^x (1 - probs)^(1 - x).

    (Loaiza-Ganem and Cunningham, The continuous Bernoulli, 2019.)

    Args:
        probs: from 0 to 1, or
        logits: its logarithm of odds.
        lims: between these, formulas that divide by 1 - 2 probs give way to series.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: probs or logits of the batch shape; an event is ().

    >>> torch.distributions.ContinuousBernoulli(0.25).log_prob(torch.tensor(0.5))
    tensor(-0.0498)
    """

    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        from rushlight import finfo

        self._lims = lims
        super().__init__(probs, logits, validate_args=False)
        if validate_args is not None:
            self._validate_args = validate_args
        else:
            del self._validate_args
        if probs is not None:
            if validate_args and not constraints.unit_interval.check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            eps = finfo(self.probs.dtype).eps
            self.probs = self._param = self.probs.clamp(eps, 1 - eps)

    def _is_stable(self):
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _stable(self):
        """probs, moved away from where formulas divide by nothing."""
        return _C.where(self._is_stable(), self.probs, _C.full_like(self.probs, self._lims[0]))

    def _log_norm(self):
        """The logarithm of what makes the density one."""
        p, off = self._stable(), (self.probs - 0.5).square()
        exact = (_C.log1p(-p) - p.log()).abs().log() - (1 - 2 * p).abs().log()
        series = math.log(2) + (4 / 3 + 104 / 45 * off) * off
        return _C.where(self._is_stable(), exact, series)

    @property
    def mean(self):
        """The mean."""
        p, off = self._stable(), self.probs - 0.5
        exact = p / (2 * p - 1) + 1 / (_C.log1p(-p) - p.log())
        series = 0.5 + (1 / 3 + 16 / 45 * off.square()) * off
        return _C.where(self._is_stable(), exact, series)

    @property
    def variance(self):
        """The variance."""
        p, off = self._stable(), (self.probs - 0.5).square()
        exact = p * (p - 1) / (1 - 2 * p).square() + 1 / (_C.log1p(-p) - p.log()).square()
        series = 1 / 12 - (1 / 15 - 128 / 945 * off) * off
        return _C.where(self._is_stable(), exact, series)

    def rsample(self, sample_shape=()):
        """Draws through which gradients flow."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(_C.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        shape = broadcast_shapes(self._batch_shape, value.shape)
        logits, value = self.logits.expand(shape), value.expand(shape)
        cross = F.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return self._log_norm() - cross

    def cdf(self, value):
        """The probability that a draw is at most `value`."""
        self._check_value(value)
        p = self._stable()
        exact = (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1)
        inside = _C.where(self._is_stable(), exact, value)
        return inside.masked_fill(value <= 0, 0.0).masked_fill(value >= 1, 1.0)

    def icdf(self, value):
        """The inverse of cdf(): the quantile at probability `value`."""
        p = self._stable()
        exact = (_C.log1p(-p + value * (2 * p - 1)) - _C.log1p(-p)) / (p.log() - _C.log1p(-p))
        return _C.where(self._is_stable(), exact, value)

    _mean_carrier_measure = 0

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        near_zero = x.abs() < 0.02
        far = x.masked_fill(near_zero, 1.0)
        series = x * (0.5 + x * (1 / 24 - x.square() / 2880))
        return _C.where(near_zero, series, (_C.expm1(far) / far).log())

    def entropy(self):
        """The entropy, in nats."""
        zero, one = _C.log1p(-self.probs), self.probs.log()
        return self.mean * (zero - one) - self._log_norm() - zero
