"""Elementwise functions that few programs use, written with the others."""

from __future__ import annotations

from rushlight import _C
from rushlight._broadcasting import broadcast_tensors
from rushlight._results import check_tensors, deliver, named
from rushlight._table import op
from rushlight.autograd.function import Function

__all__ = [
    "angle",
    "conj",
    "conj_physical",
    "conj_physical_",
    "float_power",
    "frexp",
    "gcd",
    "igamma",
    "igammac",
    "isreal",
    "lcm",
    "ldexp",
    "mvlgamma",
    "nextafter",
    "real",
    "resolve_conj",
    "resolve_neg",
    "sinc",
]

_frexp_result = named("frexp", "mantissa", "exponent")


@op("torch")
def real(input):
    """The input itself: numbers here are real.

    >>> torch.real(torch.tensor([1.0]))
    tensor([1.])
    """
    check_tensors("real", input=input)
    return input


@op("torch", "Tensor")
def conj(input):
    """The input itself: numbers here are real.

    >>> torch.conj(torch.tensor([1.0]))
    tensor([1.])
    """
    check_tensors("conj", input=input)
    return input


@op("torch", "Tensor")
def resolve_conj(input):
    """The input itself.

    >>> torch.resolve_conj(torch.tensor([1.0]))
    tensor([1.])
    """
    check_tensors("resolve_conj", input=input)
    return input


@op("torch", "Tensor")
def resolve_neg(input):
    """The input itself.

    >>> torch.resolve_neg(torch.tensor([1.0]))
    tensor([1.])
    """
    check_tensors("resolve_neg", input=input)
    return input


@op("torch", "Tensor")
def conj_physical(input, *, out=None):
    """The input itself, or a copy in `out`.

    >>> torch.conj_physical(torch.tensor([1.0]))
    tensor([1.])
    """
    check_tensors("conj_physical", input=input)
    return deliver("conj_physical", input, out)


@op("torch", "Tensor")
def conj_physical_(input):
    """conj_physical() in place.

    >>> torch.conj_physical_(torch.tensor([1.0]))
    tensor([1.])
    """
    check_tensors("conj_physical_", input=input)
    return input


@op("torch", "Tensor")
def isreal(input):
    """True everywhere: numbers here are real.

    >>> torch.isreal(torch.tensor([1.0]))
    tensor([True])
    """
    check_tensors("isreal", input=input)
    return _C.ones_like(input, dtype=_C.bool, requires_grad=False)


@op("torch", "Tensor")
def angle(input, *, out=None):
    """0 for positive numbers, pi for negative ones.

    >>> torch.angle(torch.tensor([1.0, -1.0]))
    tensor([0.0000, 3.1416])
    """
    check_tensors("angle", input=input)
    x = input if input.is_floating_point() else input.to(_C.get_default_dtype())
    flat = _C.where(x < 0, 3.141592653589793, 0.0).to(x.dtype)
    result = _C.where(x.isnan(), x, flat + 0 * x.masked_fill(x.isinf(), 0))
    return deliver("angle", result, out)


@op("torch", "Tensor", in_place=["Tensor", "torch"])
def sinc(input, *, out=None):
    """sin(pi x) / (pi x), and 1 at 0.

    >>> torch.sinc(torch.tensor([0.0, 0.5]))
    tensor([1.0000, 0.6366])
    """
    check_tensors("sinc", input=input)
    x = input if input.is_floating_point() else input.to(_C.get_default_dtype())
    wide = x.float() if x.dtype in (_C.float16, _C.bfloat16) else x
    zero = wide == 0
    angle_of = (wide * 3.141592653589793).masked_fill(zero, 1)
    result = (angle_of.sin() / angle_of).masked_fill(zero, 1)
    return deliver("sinc", result.to(x.dtype), out)


@op("torch", "Tensor")
def float_power(input, exponent, *, out=None):
    """pow() in float64.

    >>> torch.float_power(torch.tensor([2, 3]), 2)
    tensor([4., 9.], dtype=torch.float64)
    """
    if not isinstance(input, _C.Tensor) and not isinstance(exponent, _C.Tensor):
        check_tensors("float_power", input=input)
    if isinstance(out, _C.Tensor) and out.dtype != _C.float64:
        raise RuntimeError(
            "the base given to float_power_ has dtype "
            f"{out.dtype} but the operation's result requires dtype Double"
        )
    a, b = (x.double() if isinstance(x, _C.Tensor) else float(x) for x in (input, exponent))
    return deliver("float_power", _C.pow(a, b), out)


@op("torch", "Tensor", in_place=["Tensor", "torch"])
def ldexp(input, other, *, out=None):
    """input * 2^other.

    >>> torch.ldexp(torch.tensor([1.5]), torch.tensor([2]))
    tensor([6.])
    """
    check_tensors("ldexp", input=input, other=other)
    return deliver("ldexp", input * _C.pow(2.0, other), out)


@op("torch", "Tensor")
def frexp(input, *, out=None):
    """The mantissa, in [0.5, 1), and the exponent with input = mantissa * 2^exponent.

    >>> torch.frexp(torch.tensor([3.0])).mantissa
    tensor([0.7500])
    """
    check_tensors("frexp", input=input)
    if not input.is_floating_point():
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    x = input.detach().double()
    plain = (x != 0) & x.isfinite()
    exponent = x.abs().masked_fill(~plain, 1).log2().floor() + 1
    mantissa = x / _C.pow(2.0, exponent)
    exponent = exponent + (mantissa.abs() >= 1).double() - (mantissa.abs() < 0.5).double()
    exponent = exponent.masked_fill(~plain, 0)
    scale = _C.pow(2.0, -exponent)
    scaled = input.double() * scale
    return deliver("frexp", _frexp_result((scaled.to(input.dtype), exponent.to(_C.int32))), out)


def _integers(name, input, other):
    check_tensors(name, input=input, other=other)
    dtype = _C.promote_types(input.dtype, other.dtype)
    if dtype.is_floating_point or dtype == _C.bool:
        from rushlight._results import dtype_name

        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{dtype_name(dtype)}'")
    a, b = broadcast_tensors(input, other)
    return a.to(dtype).abs(), b.to(dtype).abs()


@op("torch", "Tensor", in_place=["Tensor", "torch"])
def gcd(input, other, *, out=None):
    """The greatest common divisor.

    >>> torch.gcd(torch.tensor([12, 7]), torch.tensor([18, 21]))
    tensor([6, 7])
    """
    a, b = _integers("gcd", input, other)
    while b.any():
        a, b = _C.where(b == 0, a, b), _C.where(b == 0, 0, a % b.masked_fill(b == 0, 1))
    return deliver("gcd", a.clone() if a is input else a, out)


@op("torch", "Tensor", in_place=["Tensor", "torch"])
def lcm(input, other, *, out=None):
    """The least common multiple.

    >>> torch.lcm(torch.tensor([4]), torch.tensor([6]))
    tensor([12])
    """
    a, b = _integers("lcm", input, other)
    divisor = gcd(a, b)
    product = a // divisor.masked_fill(divisor == 0, 1) * b
    return deliver("lcm", product.abs().masked_fill(divisor == 0, 0), out)


@op("torch", "Tensor", in_place=["Tensor"])
def nextafter(input, other, *, out=None):
    """The next number that a float can hold from input towards other.

    >>> torch.nextafter(torch.tensor([1.0]), torch.tensor([2.0])) > 1
    tensor([True])
    """
    check_tensors("nextafter", input=input, other=other)
    dtype = _C.promote_types(input.dtype, other.dtype)
    integer = {_C.float32: _C.int32, _C.float64: _C.int64, _C.bfloat16: _C.int16,
               _C.float16: _C.int16}.get(dtype)  # fmt: skip
    if integer is None or dtype == _C.float16:
        from rushlight._results import dtype_name

        raise NotImplementedError(f"\"nextafter_cpu\" not implemented for '{dtype_name(dtype)}'")
    a, b = (x.detach().to(dtype).contiguous() for x in broadcast_tensors(input, other))
    bits = a.view(integer)
    away = (b > a) == (a > 0)
    moved = _C.where(away, bits + 1, bits - 1)
    smallest = _C.ones_like(bits).view(dtype)
    result = _C.where(a == 0, _C.copysign(smallest, b), moved.view(dtype))
    result = _C.where(a == b, b, result)
    result = _C.where(a.isnan() | b.isnan(), a + b, result)
    return deliver("nextafter", _Moving.apply(result, input, other), out)


class _Moving(Function):
    """A result that moves as its input does, unless that is the other one."""

    @staticmethod
    def forward(ctx, result, input, other):
        ctx.save_for_backward(input, other)
        return result.clone()

    @staticmethod
    def backward(ctx, grad):
        input, other = ctx.saved_tensors
        moved = grad.masked_fill(input == other, 0)
        return None, moved.sum_to_size(input.shape), _C.zeros_like(other)


@op("torch", "Tensor", in_place=["Tensor"])
def mvlgamma(input, p, *, out=None):
    """The logarithm of the gamma function of p variables.

    >>> torch.mvlgamma(torch.tensor([3.0]), 1)
    tensor([0.6931])
    """
    check_tensors("mvlgamma", input=input)
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    x = input if input.is_floating_point() else input.to(_C.get_default_dtype())
    shifts = _C.arange((1 - p) / 2, 0.25, 0.5, dtype=x.dtype, device=x.device)
    constant = p * (p - 1) * 0.28618247146235004  # log(pi) / 4
    result = (x.unsqueeze(-1) + shifts).lgamma().sum(-1) + constant
    return deliver("mvlgamma", result, out)


def _incomplete(name, a, x):
    """The regularised lower and upper incomplete gamma functions: a series, a fraction."""
    check_tensors(name, input=a, other=x)
    dtype = _C.promote_types(a.dtype, x.dtype)
    if not dtype.is_floating_point:
        dtype = _C.get_default_dtype()
    a, x = (t.detach().double() for t in broadcast_tensors(a, x))
    valid = (a > 0) & (x > 0) & a.isfinite() & x.isfinite()
    b, z = a.masked_fill(~valid, 1), x.masked_fill(~valid, 1)
    log_front = b * z.log() - z - b.lgamma()
    term = total = 1 / b
    for n in range(1, 2000):
        term = term * z / (b + n)
        total = total + term
        if not ((z < b + 1) & (term.abs() > total.abs() * 1e-16)).any():
            break
    lower = (total.log() + log_front).exp()
    tiny = 1e-300
    d = 1 / (z + 1 - b).masked_fill(z + 1 - b == 0, tiny)
    c, h = _C.full_like(z, 1 / tiny), d
    for n in range(1, 2000):
        an, bn = -n * (n - b), z + 2 * n + 1 - b
        d = an * d + bn
        c = bn + an / c
        d = 1 / _C.where(d.abs() < tiny, tiny, d)
        c = _C.where(c.abs() < tiny, tiny, c)
        h = h * d * c
        if not ((z >= b + 1) & ((d * c - 1).abs() > 1e-15)).any():
            break
    upper = (h.log() + log_front).exp()
    low = _C.where(z < b + 1, lower, 1 - upper)
    edge = _C.where(x == float("inf"), 1.0, 0.0).double()
    edge = _C.where((a == 0) & (x > 0), 1.0, edge)
    edge = _C.where((a == float("inf")) & x.isfinite(), 0.0, edge)
    bad = (a < 0) | (x < 0) | a.isnan() | x.isnan() | ((a == 0) & (x == 0))
    bad = bad | (a.isinf() & x.isinf())
    low = _C.where(valid, low, edge).masked_fill(bad, float("nan"))
    high = _C.where(valid, _C.where(z < b + 1, 1 - lower, upper), 1 - edge)
    return low.to(dtype), high.masked_fill(bad, float("nan")).to(dtype)


class _Incomplete(Function):
    """With a gradient for x alone, as torch has it."""

    @staticmethod
    def forward(ctx, a, x, name):
        ctx.save_for_backward(a, x)
        ctx.name = name
        return _incomplete(name, a, x)[name == "igammac"]

    @staticmethod
    def backward(ctx, grad):
        a, x = ctx.saved_tensors
        if ctx.needs_input_grad[0]:
            raise NotImplementedError(f"the derivative for '{ctx.name}' is not implemented")
        density = ((a - 1) * x.log() - x - a.lgamma()).exp()
        of_x = grad * (density if ctx.name == "igamma" else -density)
        return None, of_x.sum_to_size(x.shape), None


@op("torch", "Tensor", in_place=["Tensor"])
def igamma(input, other, *, out=None):
    """The regularised lower incomplete gamma function.

    >>> torch.igamma(torch.tensor([1.0]), torch.tensor([1.0]))
    tensor([0.6321])
    """
    check_tensors("igamma", input=input, other=other)
    return deliver("igamma", _Incomplete.apply(input, other, "igamma"), out)


@op("torch", "Tensor", in_place=["Tensor"])
def igammac(input, other, *, out=None):
    """The regularised upper incomplete gamma function.

    >>> torch.igammac(torch.tensor([1.0]), torch.tensor([1.0]))
    tensor([0.3679])
    """
    check_tensors("igammac", input=input, other=other)
    return deliver("igammac", _Incomplete.apply(input, other, "igammac"), out)
