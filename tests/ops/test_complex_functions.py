"""Elementary functions of complex numbers: values, with signed zeros and infinities, gradients and
their gradients, as PyTorch's.
"""

import math

import pytest

import rushlight
from tests.conftest import ask
from tests.ops.test_complex import close, followed

pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values to real")
inf, nan = math.inf, math.nan
FUNCTIONS = (
    "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan sinh cosh tanh asin acos atan "
    "asinh acosh atanh sigmoid reciprocal square"
).split()
PARTS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 1e-12, 30.0, -30.0, 1e5, inf, -inf]
POINTS = [complex(a, b) for a in PARTS for b in PARTS if math.isfinite(a) or math.isfinite(b)]
# Where the formulas of vectors give torch no number, and C's functions say one; or the other way.
OTHERWISE = {
    "expm1": lambda z: z.real == 1e5 or not math.isfinite(z.real),
    "log1p": lambda z: not math.isfinite(z.imag),
    "tan": lambda z: not math.isfinite(z.real),
    "tanh": lambda z: not math.isfinite(z.imag),
    "sigmoid": lambda z: not math.isfinite(z.imag),
    "rsqrt": lambda z: z == 0,
}


def same(x, y, tolerance):
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    if not (math.isfinite(x) and math.isfinite(y)):
        return x == y
    return abs(x - y) <= tolerance


@pytest.mark.parametrize("name", [*FUNCTIONS, "sinc", "neg", "sgn", "mul", "isfinite", "where"])
def test_the_order_of_memory_is_kept(name, device):
    def strides(t, device="cpu"):
        z = t.ones(3, 4, 2, dtype=t.complex64, device=device)
        image = t.ones(2, 3, 4, 5, dtype=t.complex64, device=device)
        image = image.to(memory_format=t.channels_last)
        given = {"mul": lambda z: z * 2, "where": lambda z: t.where(z == z, z, z)}
        call = given.get(name) or getattr(t, name)
        inputs = (z.mT, z.permute(2, 0, 1), image, z.mT[:, :, 1:], z[:1].expand(3, 4, 2))
        leaf = z.mT.detach().requires_grad_()
        return [call(x).stride() for x in (*inputs, leaf)]

    assert strides(rushlight, device) == ask(strides)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name, dtype, device):
    def run(torch, device="cpu"):
        z = torch.tensor(POINTS, dtype=getattr(torch, dtype), device=device)
        return getattr(torch, name)(z).tolist()

    leave = OTHERWISE.get(name, lambda z: False)
    eps = 1e-13 if dtype == "complex128" else 3e-6
    eps = max(eps, 1e-9) if name == "acos" else eps  # torch loses digits near 1
    for z, x, y in zip(POINTS, run(rushlight, device), ask(run), strict=True):
        if leave(z) or (dtype == "complex64" and name in ("sin", "sinh", "cos") and abs(z) > 1e4):
            continue  # of 1e5 as a float32 the last bits of a sine are not told
        size = max(1e-30, abs(y)) if math.isfinite(abs(y)) else 1
        assert same(x.real, y.real, eps * size), (z, x, y)
        assert same(x.imag, y.imag, eps * size), (z, x, y)
        signed = name not in ("acos", "exp", "exp2", "log1p") and math.isfinite(abs(z))
        if signed and 0 == x.imag == y.imag:
            assert math.copysign(1, x.imag) == math.copysign(1, y.imag), (z, x, y)


CALLS = {name: lambda t, a, b, r, name=name: getattr(t, name)(a) * b for name in FUNCTIONS}
CALLS |= {
    "softsign": lambda t, a, b, r: t.nn.functional.softsign(a) * b,
    "sinc": lambda t, a, b, r: t.sinc(a) * b,
    "tanhshrink": lambda t, a, b, r: t.nn.functional.tanhshrink(a) * b,
    "logaddexp": lambda t, a, b, r: t.logaddexp(a, b),
    "pow": lambda t, a, b, r: a**b,
    "pow of real numbers": lambda t, a, b, r: (r * r + 1) ** a,
    "pow by real numbers": lambda t, a, b, r: a**r,
    "square power": lambda t, a, b, r: a**2 * b,
    "cube": lambda t, a, b, r: a**3 * b,
    "root": lambda t, a, b, r: a**0.5 * b,
    "inverse root": lambda t, a, b, r: a**-0.5 * b,
    "inverse": lambda t, a, b, r: a**-1 * b,
    "power": lambda t, a, b, r: a**2.5 * b,
    "a number to": lambda t, a, b, r: 2**a * b,
    "a complex number to": lambda t, a, b, r: (1 + 2j) ** a * b,
    "to a complex number": lambda t, a, b, r: a ** (1 + 2j) * b,
    "float_power": lambda t, a, b, r: t.float_power(a, 2) * b,
    "where": lambda t, a, b, r: t.where(a.real > b.real, a, b),
    "masked_fill": lambda t, a, b, r: a.masked_fill(a.real > b.real, 2) * b,
    "lerp": lambda t, a, b, r: t.lerp(a, b, 0.25),
    "addcmul": lambda t, a, b, r: t.addcmul(a, b, b, value=0.5),
    "addcdiv": lambda t, a, b, r: t.addcdiv(a, b, a, value=0.5),
    "ldexp": lambda t, a, b, r: t.ldexp(a, t.tensor([1, 2, 3], device=a.device)) * b,
    "l1_loss": lambda t, a, b, r: t.nn.functional.l1_loss(a, b, reduction="none"),
}
# Their history is that of the operations of which they are made.
COMPOSED = "softsign sinc tanhshrink logaddexp lerp addcmul addcdiv ldexp l1_loss".split()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name, dtype, device):
    ours = followed(rushlight, CALLS[name], dtype, device)
    theirs = ask(lambda torch: followed(torch, CALLS[name], dtype))
    if name in COMPOSED:
        ours, theirs = ours[:2] + ours[3:], theirs[:2] + theirs[3:]
    tolerance = 1e-9 if dtype == "complex128" else 1e-2
    if name == "a complex number to":  # torch takes its logarithm in complex64
        tolerance = max(tolerance, 1e-6)
    close(ours, theirs, tolerance)


def test_without_torchs_gradient(device):
    """torch has the values, and no gradient of them, or refuses it."""

    def values(torch, device="cpu"):
        z = torch.tensor([1.5 + 2j, -3 + 0.25j], device=device)
        x = torch.tensor([2.0, 1.0], device=device)
        made = [torch.nn.functional.silu(z), torch.nan_to_num(z), torch.where(z.real > 0, z, x)]
        return [m.tolist() for m in made]

    close(values(rushlight, device), ask(values), 1e-5)
    z = rushlight.tensor([1.5 + 2j], device=device, requires_grad=True)
    x = rushlight.tensor([2.0], device=device, requires_grad=True)
    made = rushlight.where(z.real < 0, z, x) + rushlight.nan_to_num(z)
    (made + rushlight.nn.functional.silu(z)).real.sum().backward()
    s = 1 / (1 + rushlight.exp(-z))
    assert rushlight.allclose(z.grad, (1 + s * (1 + z * (1 - s))).conj()) and x.grad.item() == 1


def test_in_place(device):
    def run(torch, device="cpu"):
        kept = []
        for name in ("exp_", "sqrt_", "sin_", "tanh_", "reciprocal_", "conj_physical_"):
            a = torch.tensor([1.5 + 2j, -3 + 0.25j], device=device, requires_grad=True)
            c = a * 1
            assert getattr(c, name)() is c
            c.abs().sum().backward()
            kept.append((name, c.tolist(), a.grad.tolist()))
        z = torch.tensor([1 + 2j, 3], device=device)
        kept.append(
            torch.exp(z, out=torch.empty(0, dtype=torch.complex128, device=device)).tolist()
        )
        kept.append(torch.sqrt(z.abs(), out=torch.empty(2, dtype=z.dtype, device=device)).tolist())
        kept.append(z.pow_(2).tolist())
        return kept

    close(run(rushlight, device), ask(run), 1e-5)


def test_questions(device):
    def run(torch, device="cpu"):
        x = [1 + 1j, 0j, complex(0, inf), complex(nan, 1), complex(-0.0, 0), complex(inf, nan)]
        z = torch.tensor(x, device=device)
        w = torch.tensor([1, 1j, 0, 0, 0j, 1], device=device)
        kept = [z.isnan(), z.isinf(), z.isfinite(), z.isreal(), z.logical_not(), z != 0]
        kept += [z.logical_and(w), z.logical_or(w), z.logical_xor(w), torch.isclose(z, z)]
        kept += [torch.isclose(z, z, equal_nan=True), torch.isclose(w, w + 1e-9), z.any(), z.all()]
        kept += [z.nonzero(), w.count_nonzero(), torch.nan_to_num(z), w.argwhere()]
        return [k.tolist() for k in kept], torch.allclose(w, w + 1e-9), torch.equal(w, w)

    assert run(rushlight, device) == ask(run)


LARGE = {
    "exp": lambda t, z, w, x: z.exp(),
    "abs": lambda t, z, w, x: z.abs(),
    "mul": lambda t, z, w, x: z * w,
    "mul by real numbers": lambda t, z, w, x: x * z,
    "mul by a number": lambda t, z, w, x: z * 2j,
    "add": lambda t, z, w, x: z.add(w, alpha=2),
    "neg": lambda t, z, w, x: -z,
    "pow": lambda t, z, w, x: z**w,
    "where": lambda t, z, w, x: t.where(x > 0, z, w),
    "masked_fill": lambda t, z, w, x: z.masked_fill(x > 0, 1j),
    "isfinite": lambda t, z, w, x: z.isfinite(),
    "eq": lambda t, z, w, x: z == w,
}


@pytest.mark.parametrize("name", LARGE)
def test_many_numbers_are_those_of_each(name, device):
    """They are computed in pieces: each has the value that it has alone."""
    n = 100 if rushlight.device(device).type == "cuda" else 40000
    rushlight.manual_seed(1)
    z, w = (rushlight.randn(n, dtype=rushlight.complex64).to(device) for _ in range(2))
    x = rushlight.randn(n).to(device)
    w[::3] = z[::3]
    whole = LARGE[name](rushlight, z, w, x)
    for at in (slice(0, 5), slice(n // 2 - 7, n // 2 + 7), slice(n - 3, n)):
        alone = LARGE[name](rushlight, z[at], w[at], x[at])
        assert whole.dtype is alone.dtype and whole.shape == z.shape
        assert rushlight.allclose(whole[at].to(rushlight.complex64), alone.to(rushlight.complex64))


REFUSED = (
    "sign ceil floor round trunc frac erf erfc lgamma digamma signbit relu deg2rad bitwise_not "
    "sort argsort max min amax amin argmax median mode cummax cummin unique topk msort aminmax "
    "logical_nothing quantile histc isposinf heaviside_ hypot_ floor_ round_ "
).split()


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_torchs_type(name):
    def run(torch):
        try:
            getattr(torch.ones(3, dtype=torch.complex64), name)()
        except Exception as error:
            return type(error).__name__
        return "no error"

    assert run(rushlight) == ask(run)
