"""Weibull: life times."""

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.distribution import broadcast_all
from rushlight.distributions.exponential import Exponential
from rushlight.distributions.gumbel import EULER
from rushlight.distributions.transformed_distribution import TransformedDistribution
from rushlight.distributions.transforms import AffineTransform, PowerTransform


class Weibull(TransformedDistribution):
    """The Weibull distribution: scale * e^(1 / concentration), e being exponentially distributed.

    Args:
        scale: the unit of time.
        concentration: the shape; above 1 failures come more often with age.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: scale and concentration broadcast to the batch shape; an event is ().

    >>> torch.distributions.Weibull(2.0, 1.0).mean
    tensor(2.)
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(_C.ones_like(self.scale), validate_args=validate_args)
        maps = [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]
        super().__init__(base, maps, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch."""
        parameters = (x.expand(batch_shape) for x in (self.scale, self.concentration))
        return self._remade(Weibull, _instance, *parameters)

    def _moment(self, order):
        return _C.lgamma(1 + order * self.concentration_reciprocal).exp()

    @property
    def mean(self):
        """scale gamma(1 + 1 / concentration)"""
        return self.scale * self._moment(1)

    @property
    def mode(self):
        """The most probable time."""
        ratio = (self.concentration - 1) / self.concentration
        return self.scale * ratio ** self.concentration.reciprocal()

    @property
    def variance(self):
        """scale^2 (gamma(1 + 2 / concentration) - gamma(1 + 1 / concentration)^2)"""
        return self.scale.pow(2) * (self._moment(2) - self._moment(1).square())

    def entropy(self):
        """The entropy, in nats."""
        inverse = self.concentration.reciprocal()
        return EULER * (1 - inverse) + (self.scale * inverse).log() + 1
