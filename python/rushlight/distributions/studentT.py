"""StudentT: a normal variable over an estimate of its standard deviation."""

import math

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.chi2 import Chi2
from rushlight.distributions.distribution import Distribution, broadcast_all


class StudentT(Distribution):
    """Student's t distribution: density proportional to (1 + ((x - loc) / scale)^2 / df)^(-(df + 1)
    / 2).

    Args:
        df: the degrees of freedom.
        loc: the middle.
        scale: the width.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: df, loc and scale broadcast to the batch shape; an event is ().

    >>> torch.distributions.StudentT(3.0).variance
    tensor(3.)
    """

    arg_constraints = {
        "df": constraints.positive, "loc": constraints.real, "scale": constraints.positive
    }  # fmt: skip
    support = constraints.real
    has_rsample = True

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch."""
        made = super().expand(batch_shape, _instance)
        made._chi2 = self._chi2.expand(batch_shape)
        return made

    @property
    def mean(self):
        """loc; NaN for one degree of freedom or less."""
        return self.loc.masked_fill(self.df <= 1, float("nan"))

    @property
    def mode(self):
        """loc"""
        return self.loc

    @property
    def variance(self):
        """scale^2 df / (df - 2); infinite from 2 degrees of freedom down, NaN from 1."""
        finite = self.scale.pow(2) * self.df / (self.df - 2)
        value = finite.masked_fill(self.df <= 2, float("inf"))
        return value.masked_fill(self.df <= 1, float("nan"))

    def rsample(self, sample_shape=()):
        """Draws through which gradients flow."""
        shape = self._extended_shape(sample_shape)
        like = {"dtype": self.df.dtype, "device": self.df.device}
        noise = _C.normal(_C.zeros(shape, **like), _C.ones(shape, **like))
        return self.loc + self.scale * noise * (self._chi2.rsample(sample_shape) / self.df).rsqrt()

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        off = (value - self.loc) / self.scale
        norm = (
            self.scale.log() + 0.5 * (self.df.log() + math.log(math.pi))
            + _C.lgamma(0.5 * self.df) - _C.lgamma(0.5 * (self.df + 1))
        )  # fmt: skip
        return -0.5 * (self.df + 1) * _C.log1p(off**2 / self.df) - norm

    def entropy(self):
        """The entropy, in nats."""
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = _C.lgamma(half) + 0.5 * math.log(math.pi) - _C.lgamma(more)
        slope = _C.digamma(more) - _C.digamma(half)
        return self.scale.log() + more * slope + 0.5 * self.df.log() + log_beta
