"""OneHotCategorical: one of several classes, as a vector."""

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.categorical import ClassProbs


class OneHotCategorical(ClassProbs):
    """A class as a vector with a single 1.

    Args:
        probs: the probabilities, or
        logits: their logarithms, up to a constant.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: probs or logits (*, K) for the batch shape (*); an event is (K).

    >>> torch.distributions.OneHotCategorical(torch.tensor([0.0, 1.0])).sample()
    tensor([0., 1.])
    """

    support = constraints.one_hot
    event_is_vector = True

    @property
    def mean(self):
        """probs"""
        return self.probs

    @property
    def variance(self):
        """p (1 - p)"""
        return self.probs * (1 - self.probs)

    @property
    def mode(self):
        """The most probable class."""
        return self._vectors(self.probs.argmax(-1))

    def __repr__(self):
        return f"{type(self).__name__}()"

    def _vectors(self, classes):
        from rushlight.nn.functional import one_hot

        return one_hot(classes, self._num_events).to(self.probs)

    def sample(self, sample_shape=()):
        """Drawn classes."""
        return self._vectors(self._draw(sample_shape))

    def log_prob(self, value):
        """The logarithm of the probability of the classes `value`."""
        self._check_value(value)
        return (self.logits * value).sum(-1)

    def enumerate_support(self, expand=True):
        """All classes."""
        count = self._num_events
        values = _C.eye(count, dtype=self._param.dtype, device=self._param.device)
        values = values.view((count,) + (1,) * len(self._batch_shape) + (count,))
        return values.expand((count, *self._batch_shape, count)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """A OneHotCategorical whose draws pass gradients on to the probabilities.

    Args:
        probs: the probabilities, or
        logits: their logarithms, up to a constant.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: probs or logits (*, K) for the batch shape (*); an event is (K).

    >>> probs = torch.tensor([0.0, 1.0], requires_grad=True)
    >>> torch.distributions.OneHotCategoricalStraightThrough(probs).rsample()
    tensor([0., 1.], grad_fn=<AddBackward0>)
    """

    has_rsample = True

    def rsample(self, sample_shape=()):
        """Drawn classes, with the gradient of the probabilities."""
        drawn = self.sample(sample_shape)
        return drawn + (self.probs - self.probs.detach())
