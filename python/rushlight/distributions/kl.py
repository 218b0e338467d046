"""kl_divergence between two distributions of one family."""

from rushlight import _C
from rushlight.distributions.bernoulli import Bernoulli
from rushlight.distributions.categorical import Categorical, OneHotCategorical
from rushlight.distributions.continuous import Exponential, Laplace, Normal, Uniform
from rushlight.distributions.independent import Independent

_FORMULAS = {}


def register_kl(type_p, type_q):
    """Decorates the formula for two types of distributions."""

    def decorate(function):
        _FORMULAS[type_p, type_q] = function
        return function

    return decorate


def kl_divergence(p, q):
    """The mean of log p - log q under p.

    Args:
        p: a distribution.
        q: a distribution of the same family.

    Raises:
        NotImplementedError: for families without a formula.

    >>> normal = torch.distributions.Normal
    >>> torch.distributions.kl_divergence(normal(0.0, 1.0), normal(1.0, 1.0))
    tensor(0.5000)
    """
    for type_p in type(p).__mro__:
        for type_q in type(q).__mro__:
            if (type_p, type_q) in _FORMULAS:
                return _FORMULAS[type_p, type_q](p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
    )


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    softplus = _C.softplus
    one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    one = one.masked_fill(q.probs == 0, float("inf")).masked_fill(p.probs == 0, 0)
    zero = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    zero = zero.masked_fill(q.probs == 1, float("inf")).masked_fill(p.probs == 1, 0)
    return one + zero


@register_kl(Categorical, Categorical)
@register_kl(OneHotCategorical, OneHotCategorical)
def _categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    terms = terms.masked_fill((q.probs == 0).expand(terms.shape), float("inf"))
    return terms.masked_fill((p.probs == 0).expand(terms.shape), 0).sum(-1)


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    result = _C.log((q.high - q.low) / (p.high - p.low))
    return result.masked_fill((q.low > p.low) | (q.high < p.high), float("inf"))


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio, off = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + off / q.scale + ratio * _C.exp(-off / p.scale) - 1


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return p._sum(kl_divergence(p.base_dist, q.base_dist))
