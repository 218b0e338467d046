"""Distributions of counts: Geometric, Binomial, Multinomial."""

from rushlight import _C
from rushlight._modes import no_grad
from rushlight.distributions import constraints
from rushlight.distributions.bernoulli import OfProbability
from rushlight.distributions.categorical import Categorical
from rushlight.distributions.distribution import Distribution, broadcast_all


class Geometric(OfProbability):
    """The number of failures before the first success.

    Args:
        probs: the probability of a success, or
        logits: its logarithm of odds.

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


class Binomial(OfProbability):
    """The number of successes in several tries.

    Args:
        total_count: the number of tries, one for the whole batch or of its shape.
        probs: the probability of a success, or
        logits: its logarithm of odds.

    >>> torch.distributions.Binomial(4, torch.tensor([0.5])).mean
    tensor([2.])
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer, **OfProbability.arg_constraints
    }  # fmt: skip

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        given = probs if probs is not None else logits
        if given is not None:
            self.total_count, given = broadcast_all(total_count, given)
            self.total_count = self.total_count.type_as(given)
        super().__init__(
            given if probs is not None else None,
            given if logits is not None else None,
            validate_args,
        )

    @property
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
        """Drawn counts: each is a sum of single tries."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            tries = int(self.total_count.max()) if self.total_count.numel() else 0
            counts = _C.zeros(shape, dtype=self.probs.dtype, device=self.probs.device)
            probs = self.probs.expand(shape)
            for i in range(tries):
                counts += _C.bernoulli(probs) * (self.total_count > i)
            return counts

    def log_prob(self, value):
        """The logarithm of the probability of `value`."""
        self._check_value(value)
        ways = (
            _C.lgamma(self.total_count + 1) - _C.lgamma(value + 1)
            - _C.lgamma(self.total_count - value + 1)
        )  # fmt: skip
        worse = self.logits.clamp(min=0) + _C.log1p(_C.exp(-self.logits.abs()))
        return value * self.logits - self.total_count * worse + ways


class Multinomial(Distribution):
    """How often each class comes in several draws.

    Args:
        total_count: the number of draws.
        probs: the probabilities of the classes, or
        logits: their logarithms, up to a constant.

    >>> torch.distributions.Multinomial(3, torch.tensor([0.0, 1.0])).sample()
    tensor([0., 3.])
    """

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

    @property
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

    def sample(self, sample_shape=()):
        """Drawn counts."""
        drawn = self._classes.sample((self.total_count, *sample_shape))
        counts = _C.zeros(
            self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device
        )
        places = drawn.permute((*range(1, drawn.dim()), 0))
        return counts.scatter_add_(-1, places, _C.ones_like(places).to(counts))

    def log_prob(self, value):
        """The logarithm of the probability of `value`."""
        self._check_value(value)
        ways = _C.lgamma(value.sum(-1) + 1) - _C.lgamma(value + 1).sum(-1)
        terms = self.logits * value
        impossible = (value == 0) & (self.logits == float("-inf"))
        return ways + terms.masked_fill(impossible, 0).sum(-1)
