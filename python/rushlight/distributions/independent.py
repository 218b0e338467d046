"""Independent: dimensions of the batch that count as one event."""

from rushlight.distributions import constraints
from rushlight.distributions.distribution import Distribution


class Independent(Distribution):
    """The same draws, of which the last dimensions of the batch are one event.

    Args:
        base_distribution: the distribution.
        reinterpreted_batch_ndims: how many dimensions.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: of the base's batch shape the last reinterpreted_batch_ndims dimensions become the first
        of the event.

    >>> normal = torch.distributions.Normal(torch.zeros(3), torch.ones(3))
    >>> torch.distributions.Independent(normal, 1).log_prob(torch.zeros(3))
    tensor(-2.7568)
    """

    arg_constraints: "dict[str, constraints.Constraint]" = {}

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(batch)}"
            )
        keep = len(batch) - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        events = tuple(batch[keep:]) + tuple(base_distribution.event_shape)
        super().__init__(batch[:keep], events, validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch."""
        inner = self.event_shape[: self.reinterpreted_batch_ndims]
        base = self.base_dist.expand((*batch_shape, *inner))
        return self._remade(Independent, _instance, base, self.reinterpreted_batch_ndims)

    @constraints.dependent_property
    def support(self):
        """That of the distribution within."""
        return constraints._over_last(self.base_dist.support, self.reinterpreted_batch_ndims)

    @property
    def has_rsample(self):
        """That of the distribution within."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self):
        """Whether the distribution within has it, and no dimension of its batch counts as event."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    def enumerate_support(self, expand=True):
        """All values of the distribution within, where no dimension counts as event."""
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    @property
    def mean(self):
        """That of the distribution within."""
        return self.base_dist.mean

    @property
    def mode(self):
        """That of the distribution within."""
        return self.base_dist.mode

    @property
    def variance(self):
        """That of the distribution within."""
        return self.base_dist.variance

    def sample(self, sample_shape=()):
        """Draws of the distribution within."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=()):
        """Draws of the distribution within, with gradients."""
        return self.base_dist.rsample(sample_shape)

    def _sum(self, value):
        dims = tuple(range(-self.reinterpreted_batch_ndims, 0))
        return value.sum(dims) if dims else value

    def log_prob(self, value):
        """The sum of the logarithms over each event."""
        return self._sum(self.base_dist.log_prob(value))

    def entropy(self):
        """The sum of the entropies over each event."""
        return self._sum(self.base_dist.entropy())

    def __repr__(self):
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"
