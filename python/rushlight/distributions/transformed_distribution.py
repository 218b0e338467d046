"""TransformedDistribution: the draws of one distribution, mapped."""

from rushlight._grad_mode import no_grad
from rushlight.distributions import constraints
from rushlight.distributions._transform_base import ComposeTransform, Transform, sum_last
from rushlight.distributions.distribution import Distribution
from rushlight.distributions.independent import Independent


class TransformedDistribution(Distribution):
    """The distribution of the draws of another one after one or more transforms.

    Args:
        base_distribution: the distribution.
        transforms: a map, or a list of them in their order.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: those of base_distribution, as the transforms change them.

    Raises:
        ValueError: if transforms is neither, or the distribution has too few dimensions.

    >>> D = torch.distributions
    >>> half = D.TransformedDistribution(D.Uniform(0.0, 1.0), D.AffineTransform(0.0, 0.5))
    >>> half.log_prob(torch.tensor(0.25))
    tensor(0.6931)
    """

    arg_constraints: "dict[str, constraints.Constraint]" = {}

    def __init__(self, base_distribution, transforms, validate_args=None):
        if isinstance(transforms, Transform):
            self.transforms = [transforms]
        elif isinstance(transforms, list):
            if not all(isinstance(t, Transform) for t in transforms):
                raise ValueError("transforms must be a Transform or a list of Transforms")
            self.transforms = transforms
        else:
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        shape = tuple(base_distribution.batch_shape) + tuple(base_distribution.event_shape)
        events = len(base_distribution.event_shape)
        chain = ComposeTransform(self.transforms)
        wanted, given = chain.domain.event_dim, chain.codomain.event_dim
        if len(shape) < wanted:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {wanted}, but got "
                f"{base_distribution.batch_shape + base_distribution.event_shape}."
            )
        forward = tuple(chain.forward_shape(shape))
        self.base_dist = base_distribution.expand(
            chain.inverse_shape(forward)[: len(shape) - events]
        )
        if wanted > events:
            self.base_dist = Independent(self.base_dist, wanted - events)
        events = given + max(events - wanted, 0)
        cut = len(forward) - events
        super().__init__(forward[:cut], forward[cut:], validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch."""
        made = self._another(_instance)
        made.__dict__.update(self.__dict__ | made.__dict__)
        shape = tuple(batch_shape) + tuple(self._event_shape)
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        made.base_dist = self.base_dist.expand(
            shape[: len(shape) - len(self.base_dist.event_shape)]
        )
        made._batch_shape = type(self._batch_shape)(batch_shape)
        return made

    @property
    def has_rsample(self):
        """That of the distribution within."""
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self):
        """What the last map gives."""
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        return constraints._over_last(support, len(self._event_shape) - support.event_dim)

    def sample(self, sample_shape=()):
        """Mapped draws, without gradient."""
        with no_grad():
            return self._map(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=()):
        """Mapped draws through which gradients flow."""
        return self._map(self.base_dist.rsample(sample_shape))

    def _map(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        events, total = len(self._event_shape), 0.0
        y = value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            events += transform.domain.event_dim - transform.codomain.event_dim
            change = transform.log_abs_det_jacobian(x, y)
            total = total - sum_last(change, events - transform.domain.event_dim)
            y = x
        base = self.base_dist.log_prob(y)
        return total + sum_last(base, events - len(self.base_dist.event_shape))

    def _flip(self, value):
        sign = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value):
        """The probability of a draw up to `value`, where all maps rise or fall."""
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        self.base_dist._check_value(value)
        return self._flip(self.base_dist.cdf(value))

    def icdf(self, value):
        """The inverse of cdf(): the quantile at probability `value`."""
        return self._map(self.base_dist.icdf(self._flip(value)))
