"""InverseGamma: the reciprocal of a gamma variable."""

from rushlight.distributions import constraints
from rushlight.distributions.gamma import Gamma
from rushlight.distributions.transformed_distribution import TransformedDistribution
from rushlight.distributions.transforms import PowerTransform


class InverseGamma(TransformedDistribution):
    """The inverse gamma distribution: 1 / x, x having a gamma distribution.

    Args:
        concentration: the shape.
        rate: the rate of x, the scale of 1 / x.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: concentration and rate broadcast to the batch shape; an event is ().

    >>> torch.distributions.InverseGamma(3.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args=validate_args)
        power = PowerTransform(-base.rate.new_ones(()))
        super().__init__(base, power, validate_args=validate_args)

    @property
    def concentration(self):
        """The shape."""
        return self.base_dist.concentration

    @property
    def rate(self):
        """The scale."""
        return self.base_dist.rate

    @property
    def mean(self):
        """rate / (concentration - 1), infinite up to concentration = 1."""
        value = self.rate / (self.concentration - 1)
        return value.masked_fill(self.concentration <= 1, float("inf"))

    @property
    def mode(self):
        """rate / (concentration + 1)"""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self):
        """The variance, infinite up to concentration = 2."""
        c = self.concentration
        value = self.rate.square() / ((c - 1).square() * (c - 2))
        return value.masked_fill(c <= 2, float("inf"))

    def entropy(self):
        """The entropy, in nats."""
        c = self.concentration
        return c + self.rate.log() + c.lgamma() - (1 + c) * c.digamma()
