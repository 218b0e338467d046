"""RelaxedBernoulli: values between 0 and 1 that tend to both, with gradients."""

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions._relaxed import RelaxedDistribution
from rushlight.distributions.bernoulli import ProbsOrLogits
from rushlight.distributions.distribution import broadcast_all
from rushlight.distributions.transforms import SigmoidTransform


class LogitRelaxedBernoulli(ProbsOrLogits):
    """The logit of a RelaxedBernoulli.

    Args:
        temperature: the lower, the closer to 0 and 1.
        probs: the probability of 1, or
        logits: its logarithm of odds.
    """

    support = constraints.real
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape=()):
        """Draws through which gradients flow."""
        from rushlight import finfo

        shape = self._extended_shape(sample_shape)
        eps = finfo(self._param.dtype).eps
        probs = self.probs.expand(shape).clamp(eps, 1 - eps)
        noise = _C.rand(shape, dtype=probs.dtype, device=probs.device).clamp(eps, 1 - eps)
        return (
            noise.log() - (-noise).log1p() + probs.log() - (-probs).log1p()
        ) / self.temperature  # fmt: skip

    def log_prob(self, value):
        """The logarithm of the density at `value`."""
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        off = logits - value.mul(self.temperature)
        temperature = _C.as_tensor(self.temperature, dtype=off.dtype, device=off.device)
        return temperature.log() + off - 2 * off.exp().log1p()


class RelaxedBernoulli(RelaxedDistribution):
    """Values in (0, 1) that tend to 0 or 1 as the temperature falls (Maddison et al., 2017).

    Args:
        temperature: positive; a lower one is closer to 0 and 1.
        probs: the probability of 1, or
        logits: its logarithm of odds.
        validate_args: check parameters and values; the default of Distribution if None.

    Shape: probs or logits of the batch shape; an event is ().

    >>> made = torch.distributions.RelaxedBernoulli(torch.tensor(0.5), torch.tensor([0.3, 0.6]))
    >>> made.rsample().shape
    torch.Size([2])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)
