"""LogisticNormal: probabilities made from normal variables."""

from rushlight.distributions import constraints
from rushlight.distributions.normal import Normal
from rushlight.distributions.transformed_distribution import TransformedDistribution
from rushlight.distributions.transforms import StickBreakingTransform


class LogisticNormal(TransformedDistribution):
    """n normal variables mapped to n + 1 probabilities by StickBreakingTransform.

    Args:
        loc: the means, shape (*, n).
        scale: the standard deviations.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: loc and scale (*, n) for the batch shape (*); an event is (n + 1).

    >>> torch.distributions.LogisticNormal(torch.zeros(2), torch.ones(2)).sample().shape
    torch.Size([3])
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self):
        """The means."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self):
        """The standard deviations."""
        return self.base_dist.base_dist.scale
