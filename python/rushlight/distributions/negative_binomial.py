"""NegativeBinomial: successes before a number of failures."""

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.distributions import constraints
from rushlight.distributions.bernoulli import CountOfTries
from rushlight.nn.functional import logsigmoid


class NegativeBinomial(CountOfTries):
    """The number of successes before total_count failures.

    Args:
        total_count: the number of failures that ends the tries; it need not be an integer.
        probs: the probability of a success, or
        logits: its logarithm of odds.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: total_count and probs or logits broadcast to the batch shape; an event is ().

    >>> torch.distributions.NegativeBinomial(3.0, 0.5).mean
    tensor(3.)
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    @property
    def mean(self):
        """n p / (1 - p)"""
        return self.total_count * self.logits.exp()

    @property
    def mode(self):
        """The most probable count."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self):
        """n p / (1 - p)^2"""
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape=()):
        """Drawn counts: of a Poisson distribution whose rate has a gamma distribution."""
        from rushlight import finfo

        shape = self._extended_shape(sample_shape)
        with no_grad():
            rate = _C._standard_gamma(self.total_count.expand(shape)) / (-self.logits).exp()
            return _C.poisson(rate.clamp(min=finfo(rate.dtype).tiny))

    def log_prob(self, value):
        """The logarithm of the probability of `value`."""
        self._check_value(value)
        terms = self.total_count * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        total = self.total_count + value
        ways = _C.lgamma(total) - _C.lgamma(1.0 + value) - _C.lgamma(self.total_count)
        return terms + ways.masked_fill(total == 0, 0)
