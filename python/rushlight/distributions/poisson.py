"""Poisson: how often something happens that happens at a constant rate."""

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.distributions import constraints
from rushlight.distributions.distribution import broadcast_all
from rushlight.distributions.exp_family import ExponentialFamily


class Poisson(ExponentialFamily):
    """The Poisson distribution: probability rate^k exp(-rate) / k!.

    Args:
        rate: how many events are expected.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: rate of the batch shape; an event is ().

    >>> torch.distributions.Poisson(2.0).log_prob(torch.tensor(0.0))
    tensor(-2.)
    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self):
        """rate"""
        return self.rate

    variance = mean

    @property
    def mode(self):
        """The most probable count."""
        return self.rate.floor()

    def sample(self, sample_shape=()):
        """Drawn counts."""
        with no_grad():
            return _C.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    @property
    def _natural_params(self):
        return (self.rate.log(),)

    def _log_normalizer(self, x):
        return x.exp()

    def log_prob(self, value):
        """The logarithm of the probability of `value`."""
        self._check_value(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()
