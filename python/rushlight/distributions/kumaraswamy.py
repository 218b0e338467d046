"""Kumaraswamy: much like Beta, with a simple inverse."""

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.distribution import broadcast_all
from rushlight.distributions.gumbel import EULER
from rushlight.distributions.transformed_distribution import TransformedDistribution
from rushlight.distributions.transforms import AffineTransform, PowerTransform
from rushlight.distributions.uniform import Uniform


class Kumaraswamy(TransformedDistribution):
    """The Kumaraswamy distribution, of distribution function 1 - (1 - x^a)^b.

    Args:
        concentration1: a.
        concentration0: b.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: concentration1 and concentration0 broadcast to the batch shape; an event is ().

    >>> torch.distributions.Kumaraswamy(1.0, 1.0).mean
    tensor(0.5000)
    """

    arg_constraints = {
        "concentration1": constraints.positive, "concentration0": constraints.positive
    }  # fmt: skip
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(
            _C.full_like(self.concentration0, 0), _C.full_like(self.concentration0, 1),
            validate_args=validate_args,
        )  # fmt: skip
        maps = [
            PowerTransform(self.concentration0.reciprocal()), AffineTransform(1.0, -1.0),
            PowerTransform(self.concentration1.reciprocal()),
        ]  # fmt: skip
        super().__init__(base, maps, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch."""
        parameters = self.concentration1, self.concentration0
        return self._remade(Kumaraswamy, _instance, *(x.expand(batch_shape) for x in parameters))

    def _moment(self, order):
        a, b = 1 + order / self.concentration1, self.concentration0
        return (a.lgamma() + b.lgamma() - (a + b).lgamma() + b.log()).exp()

    @property
    def mean(self):
        """The mean."""
        return self._moment(1)

    @property
    def mode(self):
        """The most probable value; NaN where it is at an end."""
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)).pow(a.reciprocal())
        return mode.masked_fill((a < 1) | (b < 1), float("nan"))

    @property
    def variance(self):
        """The variance."""
        return self._moment(2) - self._moment(1).pow(2)

    def entropy(self):
        """The entropy, in nats."""
        a, b = self.concentration1, self.concentration0
        return (
            (1 - b.reciprocal())
            + (1 - a.reciprocal()) * ((b + 1).digamma() + EULER)
            - (a.log() + b.log())
        )
