"""Special functions against mpmath, in units of the last place; `pytest -s` prints what is reached.

Where a function oscillates around 0 an error counts in units of a number of its usual size.
"""

import math

import mpmath
import pytest

import rushlight as rl
from tests.ops.test_math_accuracy import evaluated

numpy = pytest.importorskip("numpy")


def scaled(f, order, sign):
    return lambda v: f(order, v) * mpmath.exp(sign * abs(v))


def normal_quantile(p):
    """Of p < 1/2, by the logarithm of the share below."""
    start = -mpmath.sqrt(-2 * mpmath.log(p)) if p < 0.1 else (p - 0.5) * 2.5
    return mpmath.findroot(lambda y: mpmath.log(mpmath.ncdf(y)) - mpmath.log(p), start)


# name, the same in mpmath, intervals, size below which errors count as if at it, bound in double
TABLE = [
    ("bessel_j0", lambda v: mpmath.besselj(0, v), [(-9, 9), (8, 70), (1e3, 2e3)], 0.1, 5),
    ("bessel_j1", lambda v: mpmath.besselj(1, v), [(-9, 9), (8, 70), (1e3, 2e3)], 0.1, 5),
    ("bessel_y0", lambda v: mpmath.bessely(0, v), [(1e-3, 9), (8, 70), (1e3, 2e3)], 0.4, 16),
    ("bessel_y1", lambda v: mpmath.bessely(1, v), [(1e-3, 9), (8, 70), (1e3, 2e3)], 0.4, 16),
    ("bessel_j0", lambda v: mpmath.besselj(0, v), [(2.3, 2.5), (5.4, 5.6)], 0, 8),
    ("bessel_j1", lambda v: mpmath.besselj(1, v), [(3.8, 3.9), (6.9, 7.1)], 0, 8),
    ("bessel_j0", lambda v: mpmath.besselj(0, v), [(9e5, 1.1e6), (-1e9, 1e9)], 1e-3, 8),
    ("i0", lambda v: mpmath.besseli(0, v), [(-9, 9), (7, 80)], 0, 4),
    ("i1", lambda v: mpmath.besseli(1, v), [(-9, 9), (7, 80)], 0, 4),
    ("i0e", scaled(mpmath.besseli, 0, -1), [(-9, 9), (7, 900)], 0, 4),
    ("i1e", scaled(mpmath.besseli, 1, -1), [(-9, 9), (7, 900)], 0, 4),
    ("modified_bessel_k0", lambda v: mpmath.besselk(0, v), [(1e-6, 1.2), (0.9, 80)], 0, 4),
    ("modified_bessel_k1", lambda v: mpmath.besselk(1, v), [(1e-6, 1.2), (0.9, 80)], 0, 4),
    ("scaled_modified_bessel_k0", scaled(mpmath.besselk, 0, 1), [(1e-6, 1.2), (0.9, 900)], 0, 4),
    ("scaled_modified_bessel_k1", scaled(mpmath.besselk, 1, 1), [(1e-6, 1.2), (0.9, 900)], 0, 4),
    ("spherical_bessel_j0", mpmath.sinc, [(-9, 9), (1e3, 2e3)], 1e-3, 3),
    ("airy_ai", mpmath.airyai, [(-3, 1.5), (-70, -2)], 0.1, 24),
    ("airy_ai", mpmath.airyai, [(0.9, 15)], 0, 8),
    ("sinc", mpmath.sincpi, [(-3.3, 3.3), (1e3, 1.01e3)], 0, 4),
    ("ndtr", mpmath.ncdf, [(-12, -2), (-3, 7)], 0, 4),
    ("ndtri", normal_quantile, [(0.01, 0.499), (1e-4, 1e-3), (1e-35, 1e-34)], 0, 5),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "exact", "intervals", "floor", "bound"), TABLE)
def test_special_functions(name, exact, intervals, floor, bound, dtype, device):
    function = getattr(rl.special, name)
    for low, high in intervals:
        x = numpy.linspace(low, high, 101, dtype=dtype)
        with mpmath.workdps(40):
            values = [exact(mpmath.mpf(float(v))) for v in x]
            top = numpy.array([float(v) for v in values])
            rest = numpy.array([float(v - float(v)) for v in values])
        ours = evaluated(function, device, x).astype(numpy.longdouble)
        size = numpy.spacing(numpy.maximum(numpy.abs(top), floor).astype(dtype))
        worst = float(numpy.max(numpy.abs(ours - top - rest) / size))
        print(f"{name:26} {dtype} [{low}, {high}]: {worst:.2f}")
        # what is computed in double is rounded once; ndtr is computed in float
        assert worst <= (bound if dtype == "float64" or name == "ndtr" else 0.51)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_shares_of_the_gamma_distribution(dtype, device):
    a, x = (
        v.ravel().astype(dtype)
        for v in numpy.meshgrid([0.2, 0.9, 1.5, 4.5, 12.0, 60.0], [0.1, 0.8, 1.4, 3.0, 11.0, 70.0])
    )
    for name, ends in (("gammainc", lambda v: (0, v)), ("gammaincc", lambda v: (v, mpmath.inf))):
        ours = evaluated(getattr(rl.special, name), device, a, x)
        for got, shape, bound in zip(ours.tolist(), a.tolist(), x.tolist(), strict=True):
            expected = float(mpmath.gammainc(shape, *ends(bound), regularized=True))
            tolerance = 1e-6 if dtype == "float32" else 1e-13
            assert got == pytest.approx(expected, rel=tolerance, abs=1e-44)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_neighbours_in_every_direction(dtype, device):
    info = numpy.finfo(dtype)
    values = numpy.array(
        [0.0, -0.0, 1, -1, 2, -0.5, math.inf, -math.inf, math.nan, info.max, -info.max,
         info.tiny, -info.tiny, info.smallest_subnormal, -info.smallest_subnormal, 1e30],
        dtype,
    )  # fmt: skip
    a, b = (v.ravel() for v in numpy.meshgrid(values, values))
    ours = evaluated(rl.nextafter, device, a, b)
    with numpy.errstate(all="ignore"):
        expected = numpy.nextafter(a, b)
    numpy.testing.assert_array_equal(ours, expected)
    known = ~numpy.isnan(expected)
    assert (numpy.signbit(ours) == numpy.signbit(expected))[known].all()


def test_fractions_and_exponents(device):
    x = [0.0, -0.0, 1, -3.7, 0.5, 1e300, 2.0**-1022, 5e-324, -3e-310, math.inf, -math.inf] * 3
    mantissa, exponent = rl.frexp(rl.tensor(x, dtype=rl.float64, device=device))
    for m, e, v in zip(mantissa.tolist(), exponent.tolist(), x, strict=True):
        assert (m, e) == (math.frexp(v) if math.isfinite(v) else (v, 0))
        assert math.copysign(1, m) == math.copysign(1, v)


def test_greatest_common_divisors(device):
    least = -(2**63)
    values = [0, 1, -1, 2, 6, -9, 35, 2**40, 3**25, -(3**39), 2**62, 2**63 - 1, least + 1]
    a, b = (v.ravel() for v in numpy.meshgrid(numpy.array(values), numpy.array(values)))
    expected = [math.gcd(int(p), int(q)) for p, q in zip(a, b, strict=True)]
    assert evaluated(rl.gcd, device, a, b).tolist() == expected
    assert rl.gcd(rl.tensor(least, device=device), rl.tensor(12, device=device)).item() == 4
