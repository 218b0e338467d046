"""torch.distributions: random draws, their log-probabilities and entropies, with gradients.

>>> policy = torch.distributions.Categorical(logits=torch.zeros(4))
>>> action = policy.sample()
>>> policy.log_prob(action)
tensor(-1.3863)
"""

from rushlight.distributions import constraints
from rushlight.distributions.bernoulli import Bernoulli
from rushlight.distributions.categorical import Categorical, OneHotCategorical
from rushlight.distributions.continuous import Exponential, Laplace, Normal, Uniform
from rushlight.distributions.counts import Binomial, Geometric, Multinomial
from rushlight.distributions.distribution import Distribution
from rushlight.distributions.independent import Independent
from rushlight.distributions.kl import kl_divergence, register_kl

__all__ = [
    "Bernoulli", "Binomial", "Categorical", "Distribution", "Exponential", "Geometric",
    "Independent", "Laplace", "Multinomial", "Normal", "OneHotCategorical", "Uniform",
    "constraints", "kl_divergence", "register_kl",
]  # fmt: skip


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    raise AttributeError(f"torch.distributions.{name} is not in rushlight 0.1", name=name)
