"""Binomial: successes in several tries."""

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.distributions import constraints
from rushlight.distributions.bernoulli import CountOfTries


class Binomial(CountOfTries):
    """The binomial distribution: the number of successes in total_count tries.

    Args:
        total_count: the number of tries, one for the whole batch or of its shape.
        probs: the probability of a success, or
        logits: its logarithm of odds.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: total_count and probs or logits broadcast to the batch shape; an event is ().

    >>> torch.distributions.Binomial(4, torch.tensor([0.5])).mean
    tensor([2.])
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer, **CountOfTries.arg_constraints
    }  # fmt: skip

    has_enumerate_support = True

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        super().__init__(total_count, probs, logits, validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        """0 to total_count."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self):
        """n p"""
        return self.total_count * self.probs

    @property
    def mode(self):
        """The most probable count."""
        return ((self.total_count + 1) * self.probs).floor().minimum(self.total_count)

    @property
    def variance(self):
        """n p (1 - p)"""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        """Drawn counts."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return _C.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        """The logarithm of the probability of `value`."""
        self._check_value(value)
        ways = (
            _C.lgamma(self.total_count + 1) - _C.lgamma(value + 1)
            - _C.lgamma(self.total_count - value + 1)
        )  # fmt: skip
        worse = self.logits.clamp(min=0) + _C.log1p(_C.exp(-self.logits.abs()))
        return value * self.logits - self.total_count * worse + ways

    def enumerate_support(self, expand=True):
        """0 to total_count, where that is the same for all."""
        tries = int(self.total_count.max())
        if not self.total_count.min() == tries:
            raise NotImplementedError(
                "Inhomogeneous total count not supported by `enumerate_support`."
            )
        values = _C.arange(1 + tries, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values

    def entropy(self):
        """The entropy, in nats."""
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)
