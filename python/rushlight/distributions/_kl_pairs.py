# kl_divergence() between families: the mean of log p under p is minus the entropy, and that of
# log q comes from a few means under p. Infinite where p gives what q cannot.
import math

from rushlight import _C
from rushlight.distributions.bernoulli import Bernoulli
from rushlight.distributions.beta import Beta
from rushlight.distributions.binomial import Binomial
from rushlight.distributions.continuous_bernoulli import ContinuousBernoulli
from rushlight.distributions.exponential import Exponential
from rushlight.distributions.gamma import Gamma
from rushlight.distributions.gumbel import Gumbel
from rushlight.distributions.laplace import Laplace
from rushlight.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from rushlight.distributions.multivariate_normal import MultivariateNormal
from rushlight.distributions.normal import Normal
from rushlight.distributions.pareto import Pareto
from rushlight.distributions.poisson import Poisson
from rushlight.distributions.uniform import Uniform

_BOUNDED = (Beta, ContinuousBernoulli, Uniform)
_HALF = (Exponential, Gamma)
INFINITE = [
    *((p, Pareto) for p in (Beta, ContinuousBernoulli)),
    *((p, q) for p in _HALF for q in (*_BOUNDED, Pareto)),
    *((p, q) for p in (Gumbel, Laplace, Normal) for q in (*_BOUNDED, *_HALF, Pareto)),
    *((Pareto, q) for q in _BOUNDED),
    (Poisson, Bernoulli), (Poisson, Binomial),
]  # fmt: skip


def infinite(p, _q):
    """Infinity in p's shape, also where q's is larger, as in torch."""
    return _C.full(p.batch_shape, float("inf"), dtype=p.mean.dtype, device=p.mean.device)


def _xlogx(x):
    return _C.xlogy(x, x)


def _mean_log(p):
    """The mean of log x."""
    if isinstance(p, Beta):
        both = _C.digamma(p.concentration1 + p.concentration0)
        return _C.digamma(p.concentration1) - both
    if isinstance(p, Pareto):
        return p.scale.log() + 1 / p.alpha
    return (_xlogx(p.high) - _xlogx(p.low)) / (p.high - p.low) - 1


def _mean_log_rest(p):
    """The mean of log(1 - x) of a uniform number."""
    return (_xlogx(1 - p.low) - _xlogx(1 - p.high)) / (p.high - p.low) - 1


def _mean_exp(p, q):
    """The mean of exp(-(x - q.loc) / q.scale)."""
    if isinstance(p, Exponential):
        mean = p.rate / (p.rate + 1 / q.scale)
    elif isinstance(p, Gamma):
        mean = (1 + 1 / (p.rate * q.scale)).pow(-p.concentration)
    elif isinstance(p, Normal):
        return (-(p.loc - q.loc) / q.scale + 0.5 * (p.scale / q.scale).square()).exp()
    else:
        ends = (-(p.low - q.loc) / q.scale).exp() - (-(p.high - q.loc) / q.scale).exp()
        return q.scale * ends / (p.high - p.low)
    return (q.loc / q.scale).exp() * mean


def to_exponential(p, q):
    """Mean of -log q: -log(rate) + rate x."""
    return -p.entropy() - q.rate.log() + q.rate * p.mean


def to_normal(p, q):
    """Of x by its mean and variance."""
    square = 2 * q.scale.square()
    return -p.entropy() + 0.5 * (math.pi * square).log() + (
        p.variance + (p.mean - q.loc).square()
    ) / square  # fmt: skip


def to_gamma(p, q):
    """Of x by the means of x and log x."""
    return (
        -p.entropy() - q.concentration * q.rate.log() + _C.lgamma(q.concentration)
        - (q.concentration - 1) * _mean_log(p) + q.rate * p.mean
    )  # fmt: skip


def to_gumbel(p, q):
    """Of x by the means of x and of an exponential."""
    return -p.entropy() + q.scale.log() + (p.mean - q.loc) / q.scale + _mean_exp(p, q)


def to_continuous_bernoulli(p, q):
    """Of x by its mean."""
    return -p.entropy() - p.mean * q.logits - _C.log1p(-q.probs) - q._log_norm()


def uniform_to_beta(p, q):
    """Of a uniform x by the means of log x and log(1 - x)."""
    a, b = q.concentration1, q.concentration0
    inside = (
        -p.entropy() + _C.lgamma(a) + _C.lgamma(b) - _C.lgamma(a + b)
        - (a - 1) * _mean_log(p) - (b - 1) * _mean_log_rest(p)
    )  # fmt: skip
    return inside.masked_fill((p.high > 1) | (p.low < 0), float("inf"))


def to_uniform(p, q):
    """Of x from 0 to 1."""
    inside = -p.entropy() + (q.high - q.low).log()
    return inside.masked_fill((q.high < 1) | (q.low > 0), float("inf"))


def uniform_to_pareto(p, q):
    """Of a uniform x by the mean of log x."""
    inside = -p.entropy() - q.alpha.log() - q.alpha * q.scale.log() + (q.alpha + 1) * _mean_log(p)
    return inside.masked_fill(p.low < q.scale, float("inf"))


def _where_inside(formula, low, high):
    def guarded(p, q):
        return formula(p, q).masked_fill((p.low < low) | (p.high > high), float("inf"))

    return guarded


def bernoulli_to_poisson(p, q):
    """Of 0 and 1."""
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


def normals(p, q):
    """Of normal vectors, either of low rank."""
    from rushlight.linalg import slogdet

    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two (Low Rank) Multivariate Normals with different event shapes "
            "cannot be computed"
        )
    precision, covariance = q.precision_matrix, p.covariance_matrix
    off = q.loc - p.loc
    volume = slogdet(q.covariance_matrix).logabsdet - slogdet(covariance).logabsdet
    spread = (precision * covariance).sum((-2, -1))
    distance = (off.unsqueeze(-2) @ precision @ off.unsqueeze(-1)).squeeze(-1).squeeze(-1)
    return 0.5 * (volume + spread + distance - p.event_shape[0])


FORMULAS: "dict[tuple[type, type], object]" = {
    **dict.fromkeys(INFINITE, infinite),
    **{(p, Exponential): to_exponential for p in (Beta, ContinuousBernoulli, Pareto)},
    **{
        (p, Normal): to_normal
        for p in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Pareto)
    },
    **{(p, Gamma): to_gamma for p in (Beta, Pareto)},
    **{(p, Gumbel): to_gumbel for p in (Exponential, Gamma, Normal, Uniform)},
    **{(p, Uniform): to_uniform for p in (Beta, ContinuousBernoulli)},
    **{(p, ContinuousBernoulli): to_continuous_bernoulli for p in (Beta, ContinuousBernoulli)},
    (Uniform, ContinuousBernoulli): _where_inside(to_continuous_bernoulli, 0, 1),
    (Uniform, Exponential): _where_inside(to_exponential, 0, float("inf")),
    (Uniform, Gamma): _where_inside(to_gamma, 0, float("inf")),
    (Uniform, Beta): uniform_to_beta,
    (Uniform, Pareto): uniform_to_pareto,
    (Bernoulli, Poisson): bernoulli_to_poisson,
    (LowRankMultivariateNormal, LowRankMultivariateNormal): normals,
    (LowRankMultivariateNormal, MultivariateNormal): normals,
    (MultivariateNormal, LowRankMultivariateNormal): normals,
}
