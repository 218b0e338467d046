"""The elementary functions of kernels/math, in units of the last place.

float against NumPy's double, double against its long double. `pytest -s` prints what is reached.
"""

import math

import pytest

import rushlight as rl

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


@pytest.mark.parametrize(("name", "bound"), [("erf", 3.0), ("erfc", 1.0), ("lgamma", 2.0)])
def test_single_precision_of_special_functions(name, bound, device):
    x = numpy.linspace(0.1, 5, 2001, dtype="float32")
    expected = numpy.array([getattr(math, name)(float(v)) for v in x], dtype=numpy.longdouble)
    worst = units(evaluated(getattr(rl, name), device, x), expected, "float32")
    print(f"{name:8} float32 [0.1, 5]: {worst:.2f}")
    assert worst <= bound


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


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_far_out(name, device):
    """Where the fast reduction ends (8192 in float) another takes over; also beside near ones."""
    for dtype in ("float32", "float64"):
        x = numpy.array([0.5, 8191, 8193, -1e5, 1e8, 1e15, 3e30, -1.5], dtype=dtype)
        expected = getattr(numpy, name)(x.astype("float64"))
        ours = evaluated(getattr(rl, name), device, x)
        numpy.testing.assert_allclose(ours, expected, rtol=1e-5 if dtype == "float32" else 1e-13)
    leaf = rl.tensor([0.5, 1e6], dtype=rl.float64, device=device, requires_grad=True)
    rl.sin(leaf).backward(rl.ones_like(leaf))
    numpy.testing.assert_allclose(leaf.grad.cpu().numpy(), numpy.cos([0.5, 1e6]), rtol=1e-12)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1e30, -1e30, 1e-40, -1e-40,
           16777217.0, -5.7, 1e-3, float("inf"), -float("inf"), float("nan")]  # fmt: skip


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
@pytest.mark.parametrize("special", [False, True])
def test_remainders_are_exact(dtype, special, device):
    """Near quotients are computed in vectors; beside those that no vector holds, all one by one."""
    random = numpy.random.default_rng(0)
    a = (random.standard_normal(5000) * 10 ** random.uniform(-8, 6, 5000)).astype(dtype)
    b = (random.standard_normal(5000) * 10 ** random.uniform(-1, 2, 5000)).astype(dtype)
    b[:2000] = numpy.round(b[:2000]) + (numpy.round(b[:2000]) == 0)
    a[:1000] = b[:1000] * numpy.round(a[:1000])
    a[1000:1500] = numpy.nextafter(a[:500], 0, dtype=dtype)
    b[1000:1500] = b[:500]
    if special:
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
