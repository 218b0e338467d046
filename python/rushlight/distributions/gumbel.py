"""Gumbel: the distribution of the largest of many draws."""

import math

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.distribution import broadcast_all
from rushlight.distributions.transformed_distribution import TransformedDistribution
from rushlight.distributions.transforms import AffineTransform, ExpTransform
from rushlight.distributions.uniform import Uniform

EULER = 0.57721566490153286060


class Gumbel(TransformedDistribution):
    """The Gumbel distribution: loc - scale ln(-ln u) u being uniform on (0, 1).

    Args:
        loc: the most probable value.
        scale: the width.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: loc and scale broadcast to the batch shape; an event is ().

    >>> torch.distributions.Gumbel(0.0, 1.0).mean
    tensor(0.5772)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc, scale, validate_args=None):
        from rushlight import finfo

        self.loc, self.scale = broadcast_all(loc, scale)
        limits = finfo(self.loc.dtype)
        base = Uniform(
            _C.full_like(self.loc, limits.tiny), _C.full_like(self.loc, 1 - limits.eps),
            validate_args=validate_args,
        )  # fmt: skip
        maps = [
            ExpTransform().inv, AffineTransform(0, -_C.ones_like(self.scale)),
            ExpTransform().inv, AffineTransform(self.loc, -self.scale),
        ]  # fmt: skip
        super().__init__(base, maps, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch."""
        parameters = (x.expand(batch_shape) for x in (self.loc, self.scale))
        return self._remade(Gumbel, _instance, *parameters)

    @property
    def mean(self):
        """loc + 0.5772 scale"""
        return self.loc + self.scale * EULER

    @property
    def mode(self):
        """loc"""
        return self.loc

    @property
    def stddev(self):
        """pi / sqrt(6) scale"""
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self):
        """pi^2 / 6 scale^2"""
        return self.stddev.pow(2)

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        off = (self.loc - value) / self.scale
        return off - off.exp() - self.scale.log()

    def entropy(self):
        """The entropy, in nats."""
        return self.scale.log() + (1 + EULER)
