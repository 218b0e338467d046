"""LogNormal: a variable whose logarithm is normal."""

from rushlight.distributions import constraints
from rushlight.distributions.normal import Normal
from rushlight.distributions.transformed_distribution import TransformedDistribution
from rushlight.distributions.transforms import ExpTransform


class LogNormal(TransformedDistribution):
    """The log-normal distribution: exp of a normal variable.

    Args:
        loc: the mean of the logarithm.
        scale: its standard deviation.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: loc and scale broadcast to the batch shape; an event is ().

    >>> torch.distributions.LogNormal(0.0, 1.0).mean
    tensor(1.6487)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def loc(self):
        """The mean of the logarithm."""
        return self.base_dist.loc

    @property
    def scale(self):
        """The standard deviation of the logarithm."""
        return self.base_dist.scale

    @property
    def mean(self):
        """exp(loc + scale^2 / 2)"""
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self):
        """exp(loc - scale^2)"""
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self):
        """(exp(scale^2) - 1) exp(2 loc + scale^2)"""
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self):
        """The entropy, in nats."""
        return self.base_dist.entropy() + self.loc
