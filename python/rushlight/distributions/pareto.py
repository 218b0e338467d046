"""Pareto: few own much."""

from rushlight.distributions import constraints
from rushlight.distributions.distribution import broadcast_all
from rushlight.distributions.exponential import Exponential
from rushlight.distributions.transformed_distribution import TransformedDistribution
from rushlight.distributions.transforms import AffineTransform, ExpTransform


class Pareto(TransformedDistribution):
    """The Pareto distribution, of density proportional to x^-(alpha + 1) from scale on.

    Args:
        scale: the least value.
        alpha: how fast larger ones become rare.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: scale and alpha broadcast to the batch shape; an event is ().

    >>> torch.distributions.Pareto(1.0, 2.0).mean
    tensor(2.)
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale, alpha, validate_args=None):
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        maps = [ExpTransform(), AffineTransform(0, self.scale)]
        super().__init__(base, maps, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch."""
        parameters = (x.expand(batch_shape) for x in (self.scale, self.alpha))
        return self._remade(Pareto, _instance, *parameters)

    @property
    def mean(self):
        """scale alpha / (alpha - 1), infinite up to alpha = 1."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self):
        """scale"""
        return self.scale

    @property
    def variance(self):
        """The variance, infinite up to alpha = 2."""
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        """From scale on."""
        return constraints.greater_than_eq(self.scale)

    def entropy(self):
        """The entropy, in nats."""
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())
