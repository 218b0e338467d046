"""torch.special: error, gamma and Bessel functions, and other names of the top level's."""

from __future__ import annotations

import math

from rushlight import _C
from rushlight._elementwise import igamma, igammac, mvlgamma, sinc
from rushlight._results import check_tensors, deliver
from rushlight._table import op

__all__ = [
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
    "zeta",
]

digamma = psi = _C.digamma
erf, erfc, erfinv = _C.erf, _C.erfc, _C.erfinv
exp2, expm1, log1p = _C.exp2, _C.expm1, _C.log1p
expit, logit = _C.sigmoid, _C.logit
gammaln, polygamma = _C.lgamma, _C.polygamma
gammainc, gammaincc, multigammaln = igamma, igammac, mvlgamma
logsumexp, softmax, log_softmax = _C.logsumexp, _C.softmax, _C.log_softmax
round = _C.round
xlogy = _C.xlogy


def _in_float64(name, formula, input, out):
    """formula() of the numbers in float64, rounded once to the dtype of the result."""
    check_tensors(name, input=input)
    dtype = input.dtype if input.is_floating_point() else _C.get_default_dtype()
    return deliver(name, formula(input.double()).to(dtype), out)


def entr(input, *, out=None):
    """-x log(x), 0 at 0 and -inf below.

    >>> torch.special.entr(torch.tensor([0.0, 0.5]))
    tensor([0.0000, 0.3466])
    """

    def formula(x):
        positive = x > 0
        value = -x * x.masked_fill(~positive, 1).log()
        return _C.where(positive | x.isnan(), value, _C.where(x == 0, 0.0, -math.inf))

    return _in_float64("special_entr", formula, input, out)


def xlog1py(input, other, *, out=None):
    """input * log1p(other), 0 where input is 0.

    >>> torch.special.xlog1py(torch.tensor([0.0, 1.0]), torch.tensor([-1.0, 1.0]))
    tensor([0.0000, 0.6931])
    """
    if not isinstance(input, _C.Tensor) and not isinstance(other, _C.Tensor):
        check_tensors("special_xlog1py", input=input)
    a, b = (x if isinstance(x, _C.Tensor) else _C.scalar_tensor(x) for x in (input, other))
    zero = (a == 0) & ~b.isnan()
    result = a * _C.where(zero, 0, b).log1p()
    return deliver("special_xlog1py", result.masked_fill(zero, 0), out)


def ndtr(input, *, out=None):
    """The distribution function of the standard normal distribution.

    >>> torch.special.ndtr(torch.tensor([0.0]))
    tensor([0.5000])
    """
    return _in_float64("special_ndtr", lambda x: 0.5 * (-x * math.sqrt(0.5)).erfc(), input, out)


def ndtri(input, *, out=None):
    """The inverse of ndtr().

    >>> torch.special.ndtri(torch.tensor([0.5]))
    tensor([0.])
    """
    return _in_float64("special_ndtri", lambda p: math.sqrt(2) * (2 * p - 1).erfinv(), input, out)


def _erfcx(x):
    far = x > 25
    near = x.masked_fill(far, 0)
    large = x.masked_fill(~far, 1)
    w = 1 / (large * large)
    tail = (1 - w * (0.5 - w * (0.75 - w * 1.875))) / (large * math.sqrt(math.pi))
    return _C.where(far, tail, (near * near).exp() * near.erfc())


def erfcx(input, *, out=None):
    """exp(x^2) * erfc(x).

    >>> torch.special.erfcx(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.4276])
    """
    return _in_float64("special_erfcx", _erfcx, input, out)


def log_ndtr(input, *, out=None):
    """log(ndtr(x)), precise where that is small.

    >>> torch.special.log_ndtr(torch.tensor([0.0]))
    tensor([-0.6931])
    """

    def formula(x):
        low = x < -1
        small, other = x.masked_fill(~low, -1), x.masked_fill(low, 0)
        tail = (_erfcx(-small * math.sqrt(0.5)) / 2).log() - small * small / 2
        return _C.where(low, tail, (-(other * math.sqrt(0.5)).erfc() / 2).log1p())

    return _in_float64("special_log_ndtr", formula, input, out)


def _scaled_bessel(x, order):
    """exp(-|x|) I_order(x) for order 0 or 1: a power series, or the asymptotic one above 30."""
    a = x.abs()
    far = a > 30
    near = a.masked_fill(far, 0)
    quarter = near * near / 4
    term = total = _C.ones_like(quarter)
    for k in range(1, 90):
        term = term * quarter / (k * (k + order))
        total = total + term
    small = total * (-near).exp() * (x.masked_fill(far, 0) / 2 if order else 1)
    large = a.masked_fill(~far, 31)
    term = total = _C.ones_like(large)
    for k in range(1, 14):
        term = -term * (4 * order - (2 * k - 1) ** 2) / (k * 8 * large)
        total = total + term
    large = total / (2 * math.pi * large).sqrt()
    return _C.where(far, large * x.sgn() if order else large, small)


@op("torch", "Tensor", in_place=["Tensor", "torch"])
def i0(input, *, out=None):
    """The modified Bessel function of order 0.

    >>> torch.special.i0(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 1.2661])
    """
    return _in_float64("i0", lambda x: _scaled_bessel(x, 0) * x.abs().exp(), input, out)


def i0e(input, *, out=None):
    """exp(-|x|) * i0(x).

    >>> torch.special.i0e(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.4658])
    """
    return _in_float64("special_i0e", lambda x: _scaled_bessel(x, 0), input, out)


def i1(input, *, out=None):
    """The modified Bessel function of order 1.

    >>> torch.special.i1(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.5652])
    """
    return _in_float64("special_i1", lambda x: _scaled_bessel(x, 1) * x.abs().exp(), input, out)


def i1e(input, *, out=None):
    """exp(-|x|) * i1(x).

    >>> torch.special.i1e(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.2079])
    """
    return _in_float64("special_i1e", lambda x: _scaled_bessel(x, 1), input, out)


# B_2k / (2k)!: the terms of Euler and Maclaurin's sum.
_TAIL = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000)


def _hurwitz(x, q):
    """The sum of (q + k)^-x for x > 1 and q > 0: nine terms, then the integral and its rest."""
    total = _C.zeros_like(q)
    for k in range(9):
        total = total + (q + k) ** -x
    start = q + 9
    total = total + start ** (1 - x) / (x - 1) + 0.5 * start**-x
    factor, power = x, start ** (-x - 1)
    for k, tail in enumerate(_TAIL):
        total = total + tail * factor * power
        factor = factor * (x + 2 * k + 1) * (x + 2 * k + 2)
        power = power / (start * start)
    return total


def zeta(input, other, *, out=None):
    """The sum of 1 / (k + other)^input over k from 0: Hurwitz's zeta function.

    Args:
        input: the exponent; infinite at 1, NaN below.
        other: what is added; where it is 0 or a negative integer, the sum is infinite.

    >>> torch.special.zeta(torch.tensor([2.0]), torch.tensor([1.0]))
    tensor([1.6449])
    """
    from rushlight.functional import broadcast_tensors

    tensors = [t for t in (input, other) if isinstance(t, _C.Tensor)]
    if not tensors:
        check_tensors("special_zeta", input=input)
    dtype = next((t.dtype for t in tensors if t.is_floating_point()), _C.get_default_dtype())
    x, q = broadcast_tensors(*(_C.as_tensor(v, device=tensors[0].device).double()
                               for v in (input, other)))  # fmt: skip
    # Below 0 the terms up to 0 are those of another such sum, backwards; its signs are those of
    # an integer power.
    below, share = q < 0, (-q) - (-q).floor()
    usable = (x > 1) & (_C.where(below, share, q) > 0) & (~below | (x == x.floor())) & q.isfinite()
    x_safe = x.masked_fill(~usable, 2)
    first = _hurwitz(x_safe, _C.where(below, 1 - share, q).masked_fill(~usable, 1))
    near = _hurwitz(x_safe, share.masked_fill(~(usable & below), 1))
    far = _hurwitz(x_safe, (1 - q).masked_fill(~(usable & below), 1))
    sign = _C.where(x_safe % 2 == 0, 1.0, -1.0)
    value = first + _C.where(below, sign * (near - far), 0.0)
    whole = (q <= 0) & (q == q.floor())
    value = value.masked_fill(~usable, math.nan)
    value = value.masked_fill((x > 1) & whole, math.inf).masked_fill(x == 1, math.inf)
    return deliver("special_zeta", value.to(dtype), out)
