"""Geometric: failures before the first success."""

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.distributions import constraints
from rushlight.distributions.bernoulli import ProbsOrLogits
from rushlight.distributions.distribution import broadcast_all


class Geometric(ProbsOrLogits):
    """The number of failures before the first success.

    Args:
        probs: the probability of a success, or
        logits: its logarithm of odds.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: probs or logits of the batch shape; an event is ().

    >>> torch.distributions.Geometric(0.5).mean
    tensor(1.)
    """

    support = constraints.nonnegative_integer

    @property
    def mean(self):
        """1 / p - 1"""
        return 1.0 / self.probs - 1.0

    @property
    def mode(self):
        """0"""
        return _C.zeros_like(self.probs)

    @property
    def variance(self):
        """(1 / p - 1) / p"""
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape=()):
        """Drawn counts."""
        from rushlight import finfo

        shape = self._extended_shape(sample_shape)
        with no_grad():
            noise = _C.empty(shape, dtype=self.probs.dtype, device=self.probs.device)
            noise.uniform_(finfo(self.probs.dtype).tiny, 1)
            return (noise.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        """The logarithm of the probability of `value`."""
        self._check_value(value)
        value, probs = broadcast_all(value, self.probs)
        failures = _C.where((probs == 1) & (value == 0), _C.zeros_like(probs), (-probs).log1p())
        return value * failures + probs.log()

    def entropy(self):
        """The entropy, in nats."""
        from rushlight.nn.functional import binary_cross_entropy_with_logits

        return binary_cross_entropy_with_logits(
            self.logits, self.probs.expand(self.logits.shape), reduction="none"
        ) / self.probs  # fmt: skip
