"""What families of a location and a scale have in common."""

from rushlight.distributions import constraints
from rushlight.distributions.distribution import Distribution, broadcast_all


class LocationScale(Distribution):
    """A shape moved by loc and stretched by scale; loc is the mean and the most probable value."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self):
        """loc"""
        return self.loc

    mode = mean
