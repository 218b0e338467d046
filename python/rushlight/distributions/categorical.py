"""Categorical: one of several classes."""

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.distributions import constraints
from rushlight.distributions.distribution import Distribution, logits_of, probabilities
from rushlight.distributions.utils import lazy_property


class ClassProbs(Distribution):
    """What families of one class among several have in common."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = probs if probs is not None else logits
        if given.dim() < 1:
            name = "probs" if probs is not None else "logits"
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._param = self.probs if probs is not None else self.logits
        self._num_events = self._param.shape[-1]
        events = (self._num_events,) if self.event_is_vector else ()
        super().__init__(self._param.shape[:-1], events, validate_args)

    event_is_vector = False

    @lazy_property
    def probs(self):
        """The probabilities of the classes."""
        return probabilities(self.logits)

    @lazy_property
    def logits(self):
        """The logarithms of the probabilities."""
        return logits_of(self.probs)

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch."""
        made = super().expand(batch_shape, _instance)
        made._param = made.__dict__.get("probs", made.__dict__.get("logits"))
        return made

    @property
    def param_shape(self):
        """The shape of the probabilities."""
        return self._param.shape

    def _draw(self, sample_shape):
        count = 1
        for size in sample_shape:
            count *= size
        with no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            drawn = _C.multinomial(rows, count, True).t()
            return drawn.reshape(tuple(sample_shape) + tuple(self._batch_shape))

    def entropy(self):
        """The entropy, in nats."""
        from rushlight import finfo

        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)


class Categorical(ClassProbs):
    """The categorical distribution: a class from 0 to K - 1.

    Args:
        probs: the probabilities, normalised to sum 1; shape (*, K), or
        logits: unnormalised log-probabilities.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: probs or logits (*, K) for the batch shape (*); an event, a class, is ().

    >>> torch.distributions.Categorical(torch.tensor([1.0, 3.0])).probs
    tensor([0.2500, 0.7500])
    """

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        """0 to K - 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self):
        """NaN: classes have no mean."""
        return _C.full(self._batch_shape, float("nan"), dtype=self.probs.dtype,
                       device=self.probs.device)  # fmt: skip

    variance = mean

    @property
    def mode(self):
        """The most probable class."""
        return self.probs.argmax(-1)

    def sample(self, sample_shape=()):
        """Drawn classes."""
        return self._draw(sample_shape)

    def log_prob(self, value):
        """The logarithm of the probability of the classes `value`."""
        self._check_value(value)
        from rushlight.functional import broadcast_tensors

        value = value.long().unsqueeze(-1)
        value, logits = broadcast_tensors(value, self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def enumerate_support(self, expand=True):
        """All classes."""
        values = _C.arange(self._num_events, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
