"""Chi2: the sum of squares of standard normal variables."""

from rushlight.distributions import constraints
from rushlight.distributions.gamma import Gamma


class Chi2(Gamma):
    """The chi-squared distribution: Gamma(df / 2, 1 / 2).

    Args:
        df: the degrees of freedom.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: df of the batch shape; an event is ().

    >>> torch.distributions.Chi2(3.0).mean
    tensor(3.)
    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch."""
        return self._remade(Chi2, _instance, self.df.expand(batch_shape))

    @property
    def df(self):
        """The degrees of freedom."""
        return self.concentration * 2
