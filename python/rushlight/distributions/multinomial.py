"""Multinomial: how often each class comes in several draws."""

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.binomial import Binomial
from rushlight.distributions.categorical import Categorical
from rushlight.distributions.distribution import Distribution


class Multinomial(Distribution):
    """How often each class comes in several draws.

    Args:
        total_count: the number of draws.
        probs: the probabilities of the classes, or
        logits: their logarithms, up to a constant.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: probs or logits (*, K) for the batch shape (*); an event, the counts, is (K).

    >>> torch.distributions.Multinomial(3, torch.tensor([0.0, 1.0])).sample()
    tensor([0., 3.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._classes = Categorical(probs, logits, validate_args)
        super().__init__(self._classes.batch_shape, self._classes.param_shape[-1:], validate_args)

    @property
    def probs(self):
        """The probabilities of the classes."""
        return self._classes.probs

    @property
    def logits(self):
        """The logarithms of the probabilities."""
        return self._classes.logits

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        """Counts that add up to total_count."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self):
        """n p"""
        return self.probs * self.total_count

    @property
    def variance(self):
        """n p (1 - p)"""
        return self.total_count * self.probs * (1 - self.probs)

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch."""
        made = super().expand(batch_shape, _instance)
        made._classes = self._classes.expand(batch_shape)
        return made

    @property
    def param_shape(self):
        """The shape of the probabilities."""
        return self._classes.param_shape

    def sample(self, sample_shape=()):
        """Drawn counts."""
        drawn = self._classes.sample((self.total_count, *sample_shape))
        counts = _C.zeros(
            self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device
        )
        indices = drawn.permute((*range(1, drawn.dim()), 0))
        return counts.scatter_add_(-1, indices, _C.ones_like(indices).to(counts))

    def log_prob(self, value):
        """The logarithm of the probability of `value`."""
        self._check_value(value)
        ways = _C.lgamma(value.sum(-1) + 1) - _C.lgamma(value + 1).sum(-1)
        terms = self.logits * value
        impossible = (value == 0) & (self.logits == float("-inf"))
        return ways + terms.masked_fill(impossible, 0).sum(-1)

    def entropy(self):
        """The entropy, in nats: that of the draws' order, less what the order alone tells."""
        n = self.total_count
        counts = _C.arange(1, n + 1, dtype=self.probs.dtype, device=self.probs.device)
        counts = counts.reshape((-1,) + (1,) * (len(self._batch_shape) + 1))
        each = Binomial(n, self.probs, validate_args=False).log_prob(counts).exp()
        repeats = (each * _C.lgamma(counts + 1)).sum((0, -1))
        ways = _C.lgamma(self.probs.new_tensor(n + 1.0))
        return n * self._classes.entropy() - ways + repeats
