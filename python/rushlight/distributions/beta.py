"""Beta: a random probability."""

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions.dirichlet import Dirichlet
from rushlight.distributions.distribution import broadcast_all
from rushlight.distributions.exp_family import ExponentialFamily


class Beta(ExponentialFamily):
    """The beta distribution, of density proportional to x^(a - 1) (1 - x)^(b - 1).

    Args:
        concentration1: a.
        concentration0: b.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: concentration1 and concentration0 broadcast to the batch shape; an event is ().

    >>> torch.distributions.Beta(1.0, 3.0).mean
    tensor(0.2500)
    """

    arg_constraints = {
        "concentration1": constraints.positive, "concentration0": constraints.positive
    }  # fmt: skip
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        both = _C.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args)
        super().__init__(self._dirichlet.batch_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch."""
        made = super().expand(batch_shape, _instance)
        made._dirichlet = self._dirichlet.expand(batch_shape)
        return made

    @property
    def concentration1(self):
        """a"""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self):
        """b"""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self):
        """a / (a + b)"""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self):
        """The most probable value."""
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self):
        """a b / ((a + b)^2 (a + b + 1))"""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()):
        """Draws through which gradients flow."""
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        return self._dirichlet.log_prob(_C.stack([value, 1 - value], -1))

    @property
    def _natural_params(self):
        return (self.concentration1, self.concentration0)

    def _log_normalizer(self, x, y):
        return _C.lgamma(x) + _C.lgamma(y) - _C.lgamma(x + y)

    def entropy(self):
        """The entropy, in nats."""
        return self._dirichlet.entropy()
