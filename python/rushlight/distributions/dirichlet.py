"""Dirichlet: random probabilities that sum to 1."""

from rushlight import _C
from rushlight.autograd import Function
from rushlight.distributions import constraints
from rushlight.distributions.exp_family import ExponentialFamily


def _slopes(x, concentration, grad_output):
    """The gradient of a draw x, by Jankowiak and Obermeyer (2018): each share moves at a constant
    quantile of its marginal beta distribution, and the others make room in proportion."""
    total = concentration.sum(-1, True).expand_as(concentration)
    return _C._dirichlet_grad(x, concentration, total) * (
        grad_output - (x * grad_output).sum(-1, True)
    )


class _Dirichlet(Function):
    """A draw with its gradient."""

    _is_operation = True

    @staticmethod
    def forward(ctx, concentration):
        x = _C._sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        return _slopes(*ctx.saved_tensors, grad_output)


class Dirichlet(ExponentialFamily):
    """The Dirichlet distribution, of the probabilities of K classes.

    Args:
        concentration: a positive weight for each class, shape (*, K).
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: concentration (*, K) for the batch shape (*); an event is (K).

    >>> torch.distributions.Dirichlet(torch.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    def rsample(self, sample_shape=()):
        """Draws through which gradients flow."""
        from rushlight import finfo

        shape = self._extended_shape(sample_shape)
        drawn = _Dirichlet.apply(self.concentration.expand(shape))
        limits = finfo(drawn.dtype)
        return drawn.clamp(limits.tiny, 1 - limits.eps / 2)

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        return (
            _C.xlogy(self.concentration - 1, value).sum(-1)
            + _C.lgamma(self.concentration.sum(-1)) - _C.lgamma(self.concentration).sum(-1)
        )  # fmt: skip

    @property
    def mean(self):
        """concentration / its sum"""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        """The most probable probabilities; one class alone where all concentrations are below 1."""
        from rushlight.nn.functional import one_hot

        above = (self.concentration - 1).clamp(min=0)
        mode = above / above.sum(-1, True)
        corner = one_hot(above.argmax(-1), above.shape[-1]).to(mode)
        return _C.where((self.concentration < 1).all(-1, True), corner, mode)

    @property
    def variance(self):
        """The variance of each probability."""
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    @property
    def _natural_params(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return _C.lgamma(x).sum(-1) - _C.lgamma(x.sum(-1))

    def entropy(self):
        """The entropy, in nats."""
        classes, total = self.concentration.size(-1), self.concentration.sum(-1)
        return (
            _C.lgamma(self.concentration).sum(-1) - _C.lgamma(total)
            - (classes - total) * _C.digamma(total)
            - ((self.concentration - 1) * _C.digamma(self.concentration)).sum(-1)
        )  # fmt: skip
