"""RelaxedOneHotCategorical: probabilities that tend to a single class, with gradients."""

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions._relaxed import RelaxedDistribution
from rushlight.distributions.categorical import ClassProbs
from rushlight.distributions.distribution import broadcast_all
from rushlight.distributions.transforms import ExpTransform


class ExpRelaxedCategorical(ClassProbs):
    """The logarithm of a RelaxedOneHotCategorical.

    Args:
        temperature: the lower, the closer to a single class.
        probs: the probabilities, or
        logits: their logarithms, up to a constant.
    """

    support = constraints.real_vector
    has_rsample = True
    has_enumerate_support = False
    event_is_vector = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape=()):
        """Draws through which gradients flow."""
        from rushlight import finfo

        shape = self._extended_shape(sample_shape)
        eps = finfo(self._param.dtype).eps
        noise = _C.rand(shape, dtype=self._param.dtype, device=self._param.device)
        gumbel = -(-noise.clamp(eps, 1 - eps).log()).log()
        logits = (self.logits + gumbel) / self.temperature
        return logits - logits.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        classes = self._num_events
        logits, value = broadcast_all(self.logits, value)
        temperature = _C.as_tensor(self.temperature, dtype=logits.dtype, device=logits.device)
        scale = _C.lgamma(_C.full_like(temperature, float(classes))) - temperature.log().mul(
            -(classes - 1)
        )
        score = logits - value.mul(temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(RelaxedDistribution):
    """Probabilities that tend to a single class as the temperature falls (Jang et al., 2017).

    Args:
        temperature: positive; a lower one is closer to a single class.
        probs: the probabilities, or
        logits: their logarithms, up to a constant.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: probs or logits (*, K) for the batch shape (*); an event is (K).

    >>> made = torch.distributions.RelaxedOneHotCategorical(torch.tensor(0.5), torch.ones(3))
    >>> made.rsample().shape
    torch.Size([3])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
