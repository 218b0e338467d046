"""FisherSnedecor: ratios of two variances."""

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.distribution import Distribution, broadcast_all
from rushlight.distributions.gamma import Gamma


class FisherSnedecor(Distribution):
    """The F distribution.

    Args:
        df1: the degrees of freedom above.
        df2: those below.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: df1 and df2 broadcast to the batch shape; an event is ().

    >>> torch.distributions.FisherSnedecor(2.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1, df2, validate_args=None):
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._above = Gamma(self.df1 * 0.5, self.df1)
        self._below = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch."""
        parameters = (x.expand(batch_shape) for x in (self.df1, self.df2))
        return self._remade(FisherSnedecor, _instance, *parameters)

    def _where(self, condition, value):
        return value.masked_fill(~condition, float("nan"))

    @property
    def mean(self):
        """df2 / (df2 - 2); NaN where that is none."""
        return self._where(self.df2 > 2, self.df2 / (self.df2 - 2))

    @property
    def mode(self):
        """The most probable value; NaN where there is none."""
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return self._where(self.df1 > 2, mode)

    @property
    def variance(self):
        """The variance; NaN where there is none."""
        a, b = self.df1, self.df2
        value = 2 * b.pow(2) * (a + b - 2) / (a * (b - 2).pow(2) * (b - 4))
        return self._where(b > 4, value)

    def rsample(self, sample_shape=()):
        """Draws through which gradients flow."""
        from rushlight import finfo

        above = self._above.rsample(sample_shape)
        below = self._below.rsample(sample_shape).clamp(min=finfo(above.dtype).tiny)
        return (above / below).clamp(min=finfo(above.dtype).tiny)

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        scale = (a + b).lgamma() - a.lgamma() - b.lgamma()
        power = a * ratio.log() + (a - 1) * value.log()
        return scale + power - (a + b) * _C.log1p(ratio * value)
