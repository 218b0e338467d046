"""MixtureSameFamily: draws of one among several distributions of a family."""

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.distributions import constraints
from rushlight.distributions._composed_constraints import MixtureSameFamilyConstraint
from rushlight.distributions.categorical import Categorical
from rushlight.distributions.distribution import Distribution


class MixtureSameFamily(Distribution):
    """A mixture of the distributions along the last dimension of a batch.

    Args:
        mixture_distribution: a Categorical, the weights.
        component_distribution: the distributions, whose batch ends with as many as there are
            classes.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: mixture_distribution has the batch shape (*), component_distribution (*, K), and its
        event shape.

    >>> D = torch.distributions
    >>> normals = D.Normal(torch.tensor([0.0, 2.0]), torch.ones(2))
    >>> D.MixtureSameFamily(D.Categorical(torch.ones(2)), normals).mean
    tensor(1.)
    """

    arg_constraints: "dict[str, constraints.Constraint]" = {}
    has_rsample = False

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of "
                "torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution needs to be an instance of "
                "torch.distributions.Distribution"
            )
        weights, batch = mixture_distribution.batch_shape, component_distribution.batch_shape
        for a, b in zip(reversed(weights), reversed(batch[:-1]), strict=False):
            if a != 1 and b != 1 and a != b:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({weights}) is not compatible with "
                    f"`component_distribution.batch_shape`({batch})"
                )
        classes = mixture_distribution.logits.shape[-1]
        if not batch or classes != batch[-1]:
            raise ValueError(
                f"`mixture_distribution component` ({classes}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({batch[-1] if batch else 'none'})"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = classes
        events = component_distribution.event_shape
        super().__init__(batch[:-1], events, validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same mixture over a larger batch."""
        return self._remade(
            MixtureSameFamily,
            _instance,
            self._mixture_distribution.expand(batch_shape),
            self._component_distribution.expand((*batch_shape, self._num_component)),
        )

    @property
    def mixture_distribution(self):
        """The weights."""
        return self._mixture_distribution

    @property
    def component_distribution(self):
        """The distributions."""
        return self._component_distribution

    @constraints.dependent_property
    def support(self):
        """That of the distributions."""
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    def _weights(self):
        probs = self._mixture_distribution.probs
        return probs.reshape(tuple(probs.shape) + (1,) * len(self._event_shape))

    def _mean_over_components(self, values):
        return (self._weights() * values).sum(-1 - len(self._event_shape))

    @property
    def mean(self):
        """The mean of the means."""
        return self._mean_over_components(self._component_distribution.mean)

    @property
    def variance(self):
        """The mean of the variances and the variance of the means."""
        within = self._mean_over_components(self._component_distribution.variance)
        mean = self.mean.unsqueeze(-1 - len(self._event_shape))
        between = (self._component_distribution.mean - mean).pow(2)
        return within + self._mean_over_components(between)

    def cdf(self, value):
        """The probability that a draw is at most `value`."""
        parts = self._component_distribution.cdf(value.unsqueeze(-1))
        return (parts * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        value = value.unsqueeze(-1 - len(self._event_shape))
        parts = self._component_distribution.log_prob(value)
        weights = self._mixture_distribution.logits.log_softmax(-1)
        return _C.logsumexp(parts + weights, -1)

    def sample(self, sample_shape=()):
        """Draws of all, of which one is kept each time."""
        with no_grad():
            events, at = len(self._event_shape), len(sample_shape) + len(self._batch_shape)
            chosen = self._mixture_distribution.sample(sample_shape)
            drawn = self._component_distribution.sample(sample_shape)
            indices = chosen.reshape(tuple(chosen.shape) + (1,) * (events + 1))
            sizes = (*drawn.shape[:at], 1, *self._event_shape)
            return drawn.gather(at, indices.expand(sizes)).squeeze(at)

    def __repr__(self):
        return (
            f"MixtureSameFamily(\n  {self._mixture_distribution},\n  "
            f"{self._component_distribution})"
        )
