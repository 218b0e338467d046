"""Bernoulli: 1 with some probability, else 0."""

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.distributions import constraints
from rushlight.distributions.distribution import (
    Distribution,
    broadcast_all,
    logits_of,
    probabilities,
)
from rushlight.distributions.exp_family import ExponentialFamily
from rushlight.distributions.utils import lazy_property
from rushlight.nn import functional as F


class ProbsOrLogits(Distribution):
    """What distributions of one probability share, given as such or as a logit."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        self._param = self.probs if probs is not None else self.logits
        super().__init__(self._param.shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch."""
        made = super().expand(batch_shape, _instance)
        made._param = made.__dict__.get("probs", made.__dict__.get("logits"))
        return made

    @property
    def param_shape(self):
        """The shape of the probability."""
        return self._param.shape

    @lazy_property
    def probs(self):
        """The probability."""
        return probabilities(self.logits, binary=True)

    @lazy_property
    def logits(self):
        """The logarithm of the odds."""
        return logits_of(self.probs, binary=True)


class CountOfTries(ProbsOrLogits):
    """The same with a count besides, in the shape and the dtype of the probability."""

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        given = probs if probs is not None else logits
        if given is not None:
            self.total_count, given = broadcast_all(total_count, given)
            self.total_count = self.total_count.type_as(given)
        super().__init__(
            given if probs is not None else None,
            given if logits is not None else None,
            validate_args,
        )


class Bernoulli(ProbsOrLogits, ExponentialFamily):
    """The Bernoulli distribution: 1 with probability `probs`, else 0.

    Args:
        probs: the probability of 1, or
        logits: its log-odds.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: probs or logits of the batch shape; an event is ().

    >>> torch.distributions.Bernoulli(0.25).log_prob(torch.tensor(1.0))
    tensor(-1.3863)
    """

    support = constraints.boolean
    has_enumerate_support = True

    @property
    def mean(self):
        """probs"""
        return self.probs

    @property
    def mode(self):
        """The likelier of 0 and 1; NaN where both are."""
        mode = (self.probs >= 0.5).to(self.probs)
        return mode.masked_fill(self.probs == 0.5, float("nan"))

    @property
    def variance(self):
        """p (1 - p)"""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        """Draws of 0 and 1."""
        with no_grad():
            return _C.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        """The logarithm of the probability of `value`."""
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    _mean_carrier_measure = 0

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        return F.softplus(x)

    def entropy(self):
        """The entropy, in nats."""
        return F.binary_cross_entropy_with_logits(
            self.logits, self.probs.expand(self.logits.shape), reduction="none"
        )

    def enumerate_support(self, expand=True):
        """0 and 1."""
        values = _C.arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
