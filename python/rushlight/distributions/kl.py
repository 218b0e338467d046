"""kl_divergence between two distributions of one family."""

import math

from rushlight import _C
from rushlight.distributions import _kl_pairs
from rushlight.distributions.bernoulli import Bernoulli
from rushlight.distributions.beta import Beta
from rushlight.distributions.binomial import Binomial
from rushlight.distributions.categorical import Categorical
from rushlight.distributions.cauchy import Cauchy
from rushlight.distributions.dirichlet import Dirichlet
from rushlight.distributions.exp_family import ExponentialFamily
from rushlight.distributions.exponential import Exponential
from rushlight.distributions.gamma import Gamma
from rushlight.distributions.geometric import Geometric
from rushlight.distributions.gumbel import EULER, Gumbel
from rushlight.distributions.half_normal import HalfNormal
from rushlight.distributions.independent import Independent
from rushlight.distributions.laplace import Laplace
from rushlight.distributions.multivariate_normal import MultivariateNormal
from rushlight.distributions.normal import Normal
from rushlight.distributions.one_hot_categorical import OneHotCategorical
from rushlight.distributions.pareto import Pareto
from rushlight.distributions.poisson import Poisson
from rushlight.distributions.transformed_distribution import TransformedDistribution
from rushlight.distributions.uniform import Uniform

_FORMULAS = _KL_REGISTRY = dict(_kl_pairs.FORMULAS)


def register_kl(type_p, type_q):
    """Decorates the function that computes KL(p, q) for p and q of two types of distributions.

    Args:
        type_p, type_q: the classes of p and q.

    >>> class Point(torch.distributions.Normal): pass
    >>> @torch.distributions.register_kl(Point, Point)
    ... def distance(p, q):
    ...     return (p.loc - q.loc).abs()
    >>> torch.distributions.kl_divergence(Point(0.0, 1.0), Point(3.0, 1.0))
    tensor(3.)
    """

    def decorate(function):
        _FORMULAS[type_p, type_q] = function
        return function

    return decorate


def kl_divergence(p, q):
    """The mean of log p - log q under p.

    Args:
        p: a distribution.
        q: a distribution of the same family.

    Shape: the batch shape of p and q.

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
def _kl_normal_normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    softplus = _C._nn.softplus
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


@register_kl(Gamma, Gamma)
def _gamma(p, q):
    return (
        q.concentration * (p.rate / q.rate).log() + _C.lgamma(q.concentration)
        - _C.lgamma(p.concentration)
        + (p.concentration - q.concentration) * _C.digamma(p.concentration)
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )  # fmt: skip


@register_kl(Exponential, Gamma)
def _exponential_gamma(p, q):
    ratio = q.rate / p.rate
    return (
        -q.concentration * _C.log(ratio) + ratio + q.concentration.lgamma()
        + q.concentration * EULER - (1 + EULER)
    )  # fmt: skip


@register_kl(Gamma, Exponential)
def _gamma_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    ours, theirs = p.concentration, q.concentration
    norms = ours.sum(-1).lgamma() - theirs.sum(-1).lgamma()
    each = (ours.lgamma() - theirs.lgamma()).sum(-1)
    slope = ours.digamma() - ours.sum(-1).digamma().unsqueeze(-1)
    return norms - each + ((ours - theirs) * slope).sum(-1)


@register_kl(Beta, Beta)
def _beta(p, q):
    return _dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Binomial, Binomial)
def _binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented: "
            f"{p.total_count} and {q.total_count}"
        )
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    value = p.total_count * each
    impossible = p.total_count > q.total_count
    return value.masked_fill(impossible.expand(value.shape), math.inf)


@register_kl(Cauchy, Cauchy)
def _cauchy(p, q):
    squares = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return squares.log() - (4 * p.scale * q.scale).log()


@register_kl(Geometric, Geometric)
def _geometric(p, q):
    return -p.entropy() - _C.log1p(-q.probs) / p.probs - q.logits


@register_kl(Gumbel, Gumbel)
def _gumbel(p, q):
    ratio, off = p.scale / q.scale, p.loc / q.scale
    where = q.loc / q.scale
    return (
        off - where + ratio * EULER - ratio.log() - EULER - 1
        + (where - off + (1 + ratio).lgamma()).exp()
    )  # fmt: skip


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    return _kl_normal_normal(p.base_dist, q.base_dist)


@register_kl(Pareto, Pareto)
def _pareto(p, q):
    ratio = q.alpha / p.alpha
    value = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return value.masked_fill(p.scale < q.scale, math.inf)


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p, q):
    from rushlight.linalg import solve_triangular

    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be "
            "computed"
        )
    volume = q._log_root_of_determinant() - p._log_root_of_determinant()
    spread = (
        solve_triangular(q._unbroadcasted_scale_tril, p._unbroadcasted_scale_tril, upper=False)
        .pow(2)
        .sum((-2, -1))
    )
    off = solve_triangular(q._unbroadcasted_scale_tril, (q.loc - p.loc).unsqueeze(-1), upper=False)
    distance = off.pow(2).sum((-2, -1))
    return volume + 0.5 * (spread + distance - p.event_shape[0])


@register_kl(Uniform, Normal)
def _uniform_normal(p, q):
    width = p.high - p.low
    off = (p.high + p.low - 2 * q.loc) / 2
    return (
        (math.sqrt(2 * math.pi) * q.scale / width).log()
        + (width.pow(2) / 12 + off.pow(2)) / (2 * q.scale.pow(2))
    )  # fmt: skip


@register_kl(Normal, Laplace)
def _normal_laplace(p, q):
    off = p.loc - q.loc
    ratio = off / p.scale
    size = math.sqrt(2 / math.pi) * p.scale * (-0.5 * ratio.pow(2)).exp() + off * _C.erf(
        math.sqrt(0.5) * ratio
    )
    return -p.scale.log() + (2 * q.scale).log() + size / q.scale - 0.5 * math.log(2 * math.pi) - 0.5


@register_kl(Laplace, Normal)
def _laplace_normal(p, q):
    square = q.scale.pow(2)
    second = p.scale.pow(2) + 0.5 * (p.loc - q.loc).pow(2)
    return (
        0.5 * (2 * math.pi * square).log() - (2 * p.scale).log() + second / square - 1
    )  # fmt: skip


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    base = kl_divergence(p.base_dist, q.base_dist)
    extra = len(p.event_shape) - len(p.base_dist.event_shape)
    return base.sum(tuple(range(-extra, 0))) if extra > 0 else base


@register_kl(ExponentialFamily, ExponentialFamily)
def _of_one_family(p, q):
    """The Bregman divergence of the log-normaliser."""
    from rushlight._grad_mode import enable_grad
    from rushlight.autograd import grad

    if type(p) is not type(q):
        raise NotImplementedError(
            f"The cross KL-divergence between different exponential families cannot be computed: "
            f"p is {type(p).__name__}, q is {type(q).__name__}"
        )
    ours = [each.detach().requires_grad_() for each in p._natural_params]
    with enable_grad():
        normalizer = p._log_normalizer(*ours)
        slopes = grad(normalizer.sum(), ours, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - normalizer
    for mine, other, slope in zip(ours, q._natural_params, slopes, strict=True):
        term = (other - mine) * slope
        dims = range(
            len(result.shape) - term.dim(), 0
        )  # of the event, where the parameter has them
        result = result - (term.sum(tuple(dims)) if dims else term)
    return result
