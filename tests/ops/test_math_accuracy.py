"""The elementary functions of kernels/math, in units of the last place.

float against NumPy's double, double against its long double. `pytest -s` prints what is reached.
"""

import math

import mpmath
import pytest

import rushlight as rl
from tests.emulator import EMULATED

numpy = pytest.importorskip("numpy")
POINTS = 20001
# name, interval, worst units of the last place for float and double
TABLE = [
    ("exp", -87, 88, 1.5), ("exp", -2, 2, 1.5), ("exp2", -126, 127, 1.5), ("expm1", -10, 88, 2.5),
    ("expm1", -0.1, 0.1, 2.5), ("log", 1e-30, 10, 1.5), ("log", 0.5, 2, 1.5),
    ("log2", 0.5, 2, 2.5), ("log10", 0.5, 2, 2.5), ("log1p", -0.99, 10, 2.0),
    ("sin", -10, 10, 2.0), ("cos", -10, 10, 2.0), ("tan", -10, 10, 3.5),
    ("arcsin", -1, 1, 3.0), ("arccos", -1, 1, 2.5), ("arctan", -10, 10, 3.0),
    ("sinh", -89, 89, 2.5), ("sinh", -1, 1, 2.5), ("cosh", -89, 89, 2.5),
    ("tanh", -10, 10, 3.0), ("tanh", -0.1, 0.1, 3.0), ("arcsinh", -5, 5, 2.5),
    ("arccosh", 1.001, 50, 2.5), ("arctanh", -0.999, 0.999, 3.0),
]  # fmt: skip


def evaluated(f, device, *arrays):
    """What f gives for these arrays on the device, as an array."""
    return f(*(rl.from_numpy(a).to(device) for a in arrays)).cpu().numpy()


def units(got, expected, dtype):
    """The largest distance in units of the last place of `dtype` at the expected value."""
    size = numpy.spacing(numpy.abs(expected.astype(dtype))).astype(numpy.longdouble)
    return float(numpy.max(numpy.abs(got.astype(numpy.longdouble) - expected) / size))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "low", "high", "bound"), TABLE)
def test_units_in_the_last_place(name, low, high, bound, dtype, device):
    x = numpy.linspace(low, high, POINTS, dtype=dtype)
    expected = getattr(numpy, name)(x.astype(numpy.longdouble))
    ours = evaluated(getattr(rl, name), device, x)
    worst = units(ours, expected, dtype)
    print(f"{name:8} {dtype} [{low}, {high}]: {worst:.2f}")
    assert worst <= bound


def series(name, x):
    """erf, erfc, lgamma and their kin of x in 40 digits, as a sum of two long doubles."""
    own = {
        "lgamma": lambda v: mpmath.re(mpmath.loggamma(v)),
        "trigamma": lambda v: mpmath.psi(1, v),
        "erfcx": lambda v: mpmath.exp(v * v) * mpmath.erfc(v),
        "log_ndtr": lambda v: mpmath.log(mpmath.erfc(-v / mpmath.sqrt(2)) / 2),
    }
    f = own.get(name) or getattr(mpmath, name)
    with mpmath.workdps(40):
        values = [f(mpmath.mpf(float(v))) for v in x]
        high = numpy.array([float(v) for v in values])
        low = numpy.array([float(v - float(v)) for v in values])
    return high.astype(numpy.longdouble) + low


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "low", "high", "bound"),
    [
        ("erf", -1.1, 1.1, 1.5), ("erf", 0.9, 6, 1.5), ("erf", 1e-12, 1e-3, 1.5),
        ("erfc", -3, 3, 2.5), ("erfc", 0.45, 0.6, 2.5), ("erfc", 2, 26, 2.5),
        ("erfinv", -0.99, 0.99, 3.0), ("erfinv", 0.99, 0.9999999, 3.0),
        ("digamma", 1e-3, 1, 25), ("digamma", 2, 9.9, 25), ("digamma", 9.8, 1e4, 2.5),
        ("lgamma", 1e-3, 0.72, 2.5), ("lgamma", 0.68, 1.52, 3.0), ("lgamma", 1.48, 2.52, 3.0),
        ("lgamma", 2.48, 8.1, 2.5), ("lgamma", 7.9, 1e5, 2.5), ("lgamma", -1.4, -1.1, 4.0),
        ("digamma", -1.4, -0.6, 25), ("digamma", -80.7, -80.1, 25),
    ],
)  # fmt: skip
def test_special_functions(name, low, high, bound, dtype, device):
    """In the ranges between which the formulas change."""
    if name == "erfc" and dtype == "float32":
        high = min(high, 9)  # below that its results are denormal
    x = numpy.linspace(low, high, 1501, dtype=dtype)
    x = x[numpy.abs(x) != 1]
    if name == "lgamma":
        x = x[(numpy.abs(x - 1) > 1e-7) & (numpy.abs(x - 2) > 1e-7)]  # where it is 0
    if name == "digamma":
        x = x[(x > 0) | (x != numpy.rint(x))]  # poles
    worst = units(evaluated(getattr(rl, name), device, x), series(name, x), dtype)
    print(f"{name:8} {dtype} [{low}, {high}]: {worst:.2f}")
    assert worst <= bound


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("low", "high", "bound"), [(-2, 0, 2.5), (-7.5, -3.2, 4), (-171, -7.5, 6)])
def test_lgamma_below_zero(low, high, bound, dtype):
    x = numpy.linspace(low, high, 1501, dtype=dtype)
    x = x[x != numpy.rint(x)]  # poles
    assert units(evaluated(rl.lgamma, "cpu", x), series("lgamma", x), dtype) <= bound


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("erfcx", -26, -0.4), ("erfcx", -0.6, 0.6), ("erfcx", 0.4, 24), ("erfcx", 24, 29),
        ("log_ndtr", -300, -20), ("log_ndtr", -30, -0.9), ("log_ndtr", -1.1, 1),
    ],
)  # fmt: skip
def test_functions_of_tails(name, low, high, dtype, device):
    if name == "erfcx" and dtype == "float32":
        low = max(low, -9)  # below that they overflow
    x = numpy.linspace(low, high, 501, dtype=dtype)
    ours = evaluated(getattr(rl.special, name), device, x)
    assert units(ours, series(name, x), dtype) <= 4


@pytest.mark.parametrize(("low", "high"), [(1e-150, 1e-3), (1e-3, 12.5), (12, 1e8)])
def test_derivative_of_digamma(low, high, device):
    x = numpy.geomspace(low, high, 2001)
    ours = evaluated(lambda t: rl.polygamma(1, t), device, x)
    assert units(ours, series("trigamma", x), "float64") <= 4


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_poles_of_derivatives_of_digamma(dtype, device):
    """At 0, -1, -2, ... the sign is the right side's, as in torch; even orders have both."""
    x = rl.tensor([0.0, -0.0, -1.0, -7.0], dtype=getattr(rl, dtype), device=device)
    for n in range(1, 6):
        pole = math.inf if n % 2 else -math.inf
        assert rl.polygamma(n, x).tolist() == [pole] * 4
    inf = rl.tensor([math.inf], dtype=x.dtype, device=device)
    assert rl.polygamma(1, inf).tolist() == [0]
    assert rl.polygamma(2, inf).isnan().all()  # as torch, though its limit is 0
    assert rl.polygamma(3, inf).isnan().all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ends_of_special_functions(dtype, device):
    inf, nan = math.inf, math.nan
    x = [0.0, -0.0, inf, -inf, nan, 1e-30, -40.0, 40.0] * 20  # fills vectors, too
    tensor = rl.tensor(x, dtype=getattr(rl, dtype), device=device)
    erf = rl.erf(tensor).tolist()
    assert erf[:4] == [0, 0, 1, -1] and math.isnan(erf[4]) and erf[6:8] == [-1, 1]
    assert [math.copysign(1, v) for v in erf[:2]] == [1, -1]
    assert erf[5] == pytest.approx(1.1283791670955126e-30, rel=1e-6)
    erfc = rl.erfc(tensor).tolist()
    assert erfc[:4] == [1, 1, 0, 2] and math.isnan(erfc[4]) and erfc[5:8] == [1, 2, 0]
    lgamma = rl.lgamma(tensor).tolist()
    assert lgamma[:4] == [inf] * 4 and math.isnan(lgamma[4]) and lgamma[6] == inf
    assert lgamma[5] == pytest.approx(69.07755278982137) and lgamma[7] == pytest.approx(
        math.lgamma(40)
    )
    for size in (1, 5, 600):  # in place, negative numbers beside others
        y = rl.linspace(-3.3, 4.4, size, dtype=getattr(rl, dtype), device=device)
        expected = [math.lgamma(v) for v in y.tolist()]
        assert y.lgamma_().tolist() == pytest.approx(expected, rel=1e-5, abs=1e-5)
    edges = rl.tensor([0.0, -0.0, 1, -1, 1.5, -2, nan, inf] * 20, dtype=tensor.dtype, device=device)
    erfinv = rl.erfinv(edges).tolist()
    assert erfinv[:4] == [0, 0, inf, -inf] and all(math.isnan(v) for v in erfinv[4:8])
    assert [math.copysign(1, v) for v in erfinv[:2]] == [1, -1]


def test_gelu(device):
    """No worse than twice its own rounding where it is not about to vanish, and 0 far below."""
    x = numpy.linspace(0.01, 8, POINTS, dtype="float32")
    expected = numpy.array([v * 0.5 * math.erfc(-v / math.sqrt(2)) for v in x.tolist()])
    gelu = rl.nn.functional.gelu
    worst = units(evaluated(gelu, device, x), expected.astype(numpy.longdouble), "float32")
    print(f"gelu     float32: {worst:.2f}")
    assert worst <= 3  # 2.3 with fused multiply-add, 2.6 without
    below = -x
    error = numpy.abs(evaluated(gelu, device, below) - (expected - x.astype("float64")))
    assert error.max() <= 1.2e-6
    far = gelu(rl.tensor([-5.5, -100.0, -1e30, 100.0, 1e30, float("nan")], device=device)).tolist()
    assert far[:3] == [0, 0, 0] and far[3:5] == [100.0, float(numpy.float32(1e30))]
    assert math.isnan(far[5])


def test_power(device):
    a = numpy.repeat(numpy.linspace(0.01, 20, 200, dtype="float32"), 200)
    b = numpy.tile(numpy.linspace(-9, 9, 200, dtype="float32"), 200)
    expected = numpy.power(a.astype(numpy.longdouble), b.astype(numpy.longdouble))
    worst = units(evaluated(rl.pow, device, a, b), expected, "float32")
    print(f"pow      float32: {worst:.2f}")
    assert worst <= 1.0
    a, b = a.astype("float64"), b.astype("float64") * 60
    expected = numpy.power(a.astype(numpy.longdouble), b.astype(numpy.longdouble))
    finite = (expected < 1e308) & (expected > 1e-300)
    worst = units(evaluated(rl.pow, device, a, b)[finite], expected[finite], "float64")
    print(f"pow      float64: {worst:.2f}")
    assert worst <= 1.5


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_far_out(name, device):
    """Where the fast reduction ends (8192 in float) another takes over; also beside near ones."""
    for dtype in ("float32", "float64"):
        x = numpy.array([0.5, 8191, 8193, -1e5, 1e8, 1e15, 3e30, -1.5], dtype=dtype)
        expected = getattr(numpy, name)(x.astype("float64"))
        ours = evaluated(getattr(rl, name), device, x)
        numpy.testing.assert_allclose(ours, expected, rtol=1e-5 if dtype == "float32" else 1e-13)
    # The emulator replaces angles beyond by near ones of float32; CUDA states 2 units, of tan 4.
    x = numpy.linspace(8000, 8192 if EMULATED else 999000, POINTS, dtype="float32")
    expected = getattr(numpy, name)(x.astype("float64"))
    assert units(evaluated(getattr(rl, name), device, x), expected, "float32") <= 4
    leaf = rl.tensor([0.5, 1e6], dtype=rl.float64, device=device, requires_grad=True)
    rl.sin(leaf).backward(rl.ones_like(leaf))
    numpy.testing.assert_allclose(leaf.grad.cpu().numpy(), numpy.cos([0.5, 1e6]), rtol=1e-12)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1e30, -1e30, 1e-40, -1e-40,
           16777217.0, -5.7, 1e-3, float("inf"), -float("inf"), float("nan")]  # fmt: skip


def test_powers_of_special_doubles(device):
    values = [*SPECIAL, 5e-324, -5e-324, 1e-310, 1.7e308, 9007199254740993.0, 1 - 2**-53, 1e5]
    a, b = (v.ravel() for v in numpy.meshgrid(*[numpy.array(values)] * 2))
    with numpy.errstate(all="ignore"):
        expected = numpy.power(a, b)
    result = evaluated(rl.pow, device, a, b)
    numpy.testing.assert_allclose(result, expected, rtol=4e-16, atol=5e-324)
    assert (numpy.signbit(result) == numpy.signbit(expected))[~numpy.isnan(expected)].all()


def test_powers_of_special_numbers(device):
    a, b = (v.ravel() for v in numpy.meshgrid(*[numpy.array(SPECIAL, dtype="float32")] * 2))
    with numpy.errstate(all="ignore"):
        expected = numpy.power(a.astype("float64"), b.astype("float64")).astype("float32")
    result = evaluated(rl.pow, device, a, b)
    numpy.testing.assert_allclose(result, expected, rtol=2e-7)
    assert (numpy.signbit(result) == numpy.signbit(expected))[~numpy.isnan(expected)].all()
    for e in [*SPECIAL[8:16], -7.0, 1.7]:  # the same exponent for all; those before are roots
        x = numpy.array(SPECIAL * 3, dtype="float32")
        with numpy.errstate(all="ignore"):
            expected = numpy.power(x.astype("float64"), float(numpy.float32(e))).astype("float32")
        numpy.testing.assert_allclose(
            evaluated(lambda x, e=e: x**e, device, x), expected, rtol=3e-7
        )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("special", ["no", "undefined", "all"])
def test_remainders_are_exact(dtype, special, device):
    """Near quotients are computed in vectors, as are those that are no number; beside those that no
    vector holds, all one by one."""
    random = numpy.random.default_rng(0)
    a = (random.standard_normal(5000) * 10 ** random.uniform(-8, 6, 5000)).astype(dtype)
    b = (random.standard_normal(5000) * 10 ** random.uniform(-1, 2, 5000)).astype(dtype)
    b[:2000] = numpy.round(b[:2000]) + (numpy.round(b[:2000]) == 0)
    a[:1000] = b[:1000] * numpy.round(a[:1000])
    a[1000:1500] = numpy.nextafter(a[:500], 0, dtype=dtype)
    b[1000:1500] = b[:500]
    if special == "undefined":
        a[::50], a[1::70], b[::60], b[1::80] = numpy.nan, -numpy.inf, 0, numpy.nan
        b[2::90] = -0.0
    if special == "all":
        a[::7], b[::11] = SPECIAL[:-1] * 37 + SPECIAL[:12], SPECIAL * 22 + SPECIAL[:15]
    with numpy.errstate(all="ignore"):
        expected = numpy.fmod(a, b)
        numpy.testing.assert_array_equal(evaluated(rl.fmod, device, a, b), expected)
        sign_of_zero = numpy.signbit(expected)[expected == 0]
        assert (
            numpy.signbit(evaluated(rl.fmod, device, a, b))[expected == 0] == sign_of_zero
        ).all()
        numpy.testing.assert_array_equal(
            evaluated(lambda x, y: x % y, device, a, b), numpy.remainder(a, b)
        )
        numpy.testing.assert_array_equal(
            evaluated(lambda x, y: x // y, device, a, b), numpy.floor_divide(a, b)
        )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["exp", "log", "log2", "log10", "erfinv"])
@pytest.mark.parametrize("neighbour", [float("nan"), float("inf"), -1e300, 1e-310, 0.0])
def test_neighbours_do_not_change_a_value(name, dtype, neighbour, device):
    """Blocks of usual elements have a shorter formula, with the same bits."""
    x = numpy.random.default_rng(1).uniform(0.01, 0.9, 3000).astype(dtype)
    with numpy.errstate(over="ignore"):
        beside = numpy.append(x, numpy.array(neighbour).astype(dtype))
    f = getattr(rl, name)
    alone = evaluated(f, device, x)
    numpy.testing.assert_array_equal(evaluated(f, device, beside)[:-1], alone)
    in_place = evaluated(lambda t: getattr(t.clone(), name + "_")(), device, beside)
    numpy.testing.assert_array_equal(in_place[:-1], alone)
    numpy.testing.assert_array_equal(in_place, evaluated(f, device, beside))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_square_roots_are_exactly_rounded(dtype, device):
    """Near powers of two, near squares of what lies between two numbers, and special cases."""
    kind = numpy.dtype(dtype).type
    info, bits = numpy.finfo(dtype), {"float32": "int32", "float64": "int64"}[dtype]
    powers = kind(2) ** numpy.arange(-info.maxexp // 8, info.maxexp // 8, dtype=dtype)
    near = (powers.view(bits)[:, None] + numpy.arange(-99, 99, dtype=bits)).view(dtype).ravel()
    between = numpy.random.default_rng(0).uniform(1, 2, 4000).astype(dtype).astype("longdouble")
    squares = ((between + numpy.longdouble(info.eps) / 2) ** 2).astype(dtype)
    ends = [info.tiny, info.max, info.smallest_subnormal]
    rare = numpy.array([0.0, -0.0, -1.0, math.inf, -math.inf, math.nan, *ends], dtype)
    rows = [near, squares, numpy.nextafter(squares, kind(0)), rare]
    x = numpy.concatenate([*rows, numpy.repeat(rare, 7), near[:5]])
    with numpy.errstate(invalid="ignore"):
        expected = numpy.sqrt(x)
    ours = evaluated(rl.sqrt, device, x)
    numpy.testing.assert_array_equal(ours, expected)
    assert (numpy.signbit(ours) == numpy.signbit(expected))[x == 0].all()
