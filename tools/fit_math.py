"""Fits the polynomials of kernels/math and prints kernels/math/coefficients.h.

Run `python tools/fit_math.py > kernels/math/coefficients.h` after a change of degree or interval;
it needs mpmath. Each polynomial interpolates its function at Chebyshev nodes, in 120 digits, which
is within a factor of two of the best. What the library then reaches, in units of the last place,
is printed and bounded by tests/ops/test_math_accuracy.py.
"""

from mpmath import (
    airyai,
    airybi,
    asin,
    atan,
    besseli,
    besselj,
    besseljzero,
    besselk,
    bessely,
    cos,
    erf,
    erfc,
    exp,
    expm1,
    findroot,
    hankel1,
    log,
    loggamma,
    lu_solve,
    matrix,
    mp,
    mpc,
    mpf,
    ncdf,
    pi,
    sin,
    sinh,
    sqrt,
)

mp.dps = 120

# name, what the polynomial in z stands for, interval of z, coefficients for float and for double
FITS = [
    ("exp", "(exp(z) - 1 - z) / z^2", lambda z: (exp(z) - 1 - z) / z**2, (-0.348, 0.348), (5, 11)),
    ("log", "(log((1 + s) / (1 - s)) - 2 s) / s^3, z = s^2",
     lambda z: (log((1 + sqrt(z)) / (1 - sqrt(z))) - 2 * sqrt(z)) / sqrt(z) ** 3,
     (0, 0.0296), (0, 8)),
    ("log_divided", "(log(1 + z) - z + z^2 / 2) / z^3",
     lambda z: (log(1 + z) - z + z**2 / 2) / z**3, (1 / sqrt(mpf(2)) - 1, sqrt(mpf(2)) - 1),
     (10, 0)),
    ("sin", "(sin(r) - r) / r^3, z = r^2",
     lambda z: (sin(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3, (0, (pi / 4) ** 2 * 1.01), (3, 7)),
    ("cos", "(cos(r) - 1 + z / 2) / z^2, z = r^2",
     lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, (0, (pi / 4) ** 2 * 1.01), (3, 7)),
    ("sinh", "(sinh(x) - x) / x^3, z = x^2",
     lambda z: (sinh(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3, (0, 1), (4, 8)),
    ("asin", "(asin(x) - x) / x^3, z = x^2",
     lambda z: (asin(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3, (0, 0.25), (5, 13)),
    ("atan", "(atan(x) - x) / x^3, z = x^2",
     lambda z: (atan(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3, (0, 0.1717), (5, 12)),
    ("erf", "erf(x) / x - 1, z = x^2", lambda z: erf(sqrt(z)) / sqrt(z) - 1, (0, 1), (7, 12)),
    ("erfcx", "exp(a^2) erfc(a) (a + 2.5), z = 1 / (a + 2.5) - 0.1875",
     lambda z: scaled_erfc(1 / (z + 0.1875) - 2.5) / (z + 0.1875), (-0.154, 0.146), (11, 22)),
    ("erfinv_near", "erfinv(x) / x, z = w - 2.5, where w = -log(1 - x^2)",
     lambda z: erfinv_over_x(z + mpf(5) / 2), (-2.5, 2.5), (10, 0)),
    ("erfinv_near", "erfinv(x) / x, z = w - 3.125, where w = -log(1 - x^2)",
     lambda z: erfinv_over_x(z + mpf(25) / 8), (-3.125, 3.125), (0, 24)),
    ("erfinv_far", "the same, z = sqrt(w) - 3.25",
     lambda z: erfinv_over_x((z + mpf(13) / 4) ** 2), (-1.02, 0.85), (10, 0)),
    ("erfinv_middle", "the same, z = sqrt(w) - 3.25",
     lambda z: erfinv_over_x((z + mpf(13) / 4) ** 2), (-0.76, 0.76), (0, 20)),
    ("erfinv_far", "the same, z = sqrt(w) - 5",
     lambda z: erfinv_over_x((z + mpf(5)) ** 2), (-1.01, 1.1), (0, 19)),
    ("erfinv_farthest", "erfinv(x) / (x r), z = 1 / (r + 8) - 0.05, r = sqrt(w)",
     lambda z: erfinv_over_x(root_of(z) ** 2) / root_of(z), (-0.0219, 0.0213), (0, 20)),
    ("log_gamma_of_1", "log(gamma(1 + z)) / z", lambda z: loggamma(1 + z) / z, (-0.3, 0.7),
     (0, 25)),
    ("log_gamma_of_2", "log(gamma(2 + z)) / z", lambda z: loggamma(2 + z) / z, (-0.5, 0.5),
     (0, 18)),
    ("stirling", "x log(gamma(x)) - (x - 1/2) log(x) + x - log(2 pi) / 2, z = 1 / x^2",
     lambda z: stirling(1 / sqrt(z)), (0, 1 / mpf(64)), (0, 7)),
    ("log_rest", "((log((1 + s) / (1 - s)) / (2 s) - 1) / z - 1/3) / z, z = s^2",
     lambda z: ((log((1 + sqrt(z)) / (1 - sqrt(z))) / (2 * sqrt(z)) - 1) / z - mpf(1) / 3) / z,
     (0, 0.0296), (0, 8)),
    ("log2", "log2(1 + z) / z", lambda z: log(1 + z) / z / log(2), (-0.293, 0.4143), (0, 14)),
    ("exp2", "2^z", lambda z: 2**z, (-0.5001, 0.5001), (0, 8)),
    ("bessel_j0", "J0(x) / (x^2 - r^2) / (x^2 - s^2) for its first zeros r and s, z = x^2 - 64",
     lambda z: without_zeros(0, sqrt(z + 64)), (-64, 0), (0, 16)),
    ("bessel_j1", "J1(x) / x / (x^2 - r^2) / (x^2 - s^2) likewise, z = x^2 - 64",
     lambda z: without_zeros(1, sqrt(z + 64)) / sqrt(z + 64), (-64, 0), (0, 16)),
    ("bessel_y0", "Y0(x) - 2 / pi log(x) J0(x), z = x^2 - 32",
     lambda z: rest_of_bessel_y(0, sqrt(z + 32)), (-32, 32), (0, 17)),
    ("bessel_y1", "(Y1(x) - 2 / pi (log(x) J1(x) - 1 / x)) / x, z = x^2 - 32",
     lambda z: rest_of_bessel_y(1, sqrt(z + 32)) / sqrt(z + 32), (-32, 32), (0, 16)),
    ("hankel_p0", "real part of hankel(0, x), z = 1 / x^2 - 1 / 128",
     lambda z: hankel(0, 1 / sqrt(z + mpf(1) / 128)).real, (-1 / 128, 1 / 128), (0, 14)),
    ("hankel_q0", "imaginary part of hankel(0, x), times x, z = 1 / x^2 - 1 / 128",
     lambda z: hankel(0, 1 / sqrt(z + mpf(1) / 128)).imag / sqrt(z + mpf(1) / 128),
     (-1 / 128, 1 / 128), (0, 14)),
    ("hankel_p1", "real part of hankel(1, x), z = 1 / x^2 - 1 / 128",
     lambda z: hankel(1, 1 / sqrt(z + mpf(1) / 128)).real, (-1 / 128, 1 / 128), (0, 14)),
    ("hankel_q1", "imaginary part of hankel(1, x), times x, z = 1 / x^2 - 1 / 128",
     lambda z: hankel(1, 1 / sqrt(z + mpf(1) / 128)).imag / sqrt(z + mpf(1) / 128),
     (-1 / 128, 1 / 128), (0, 14)),
    ("bessel_i0", "I0(x), z = x^2", lambda z: besseli(0, sqrt(z)), (0, 64), (0, 17)),
    ("bessel_i1", "I1(x) / x, z = x^2", lambda z: besseli(1, sqrt(z)) / sqrt(z), (0, 64), (0, 17)),
    ("bessel_i0_far", "sqrt(x) exp(-x) I0(x), z = 1 / x - 1 / 16",
     lambda z: far_bessel_i(0, 1 / (z + mpf(1) / 16)), (-0.0625, 0.0625), (0, 26)),
    ("bessel_i1_far", "sqrt(x) exp(-x) I1(x), z = 1 / x - 1 / 16",
     lambda z: far_bessel_i(1, 1 / (z + mpf(1) / 16)), (-0.0625, 0.0625), (0, 26)),
    ("bessel_k0", "K0(x) + log(x) I0(x), z = x^2",
     lambda z: besselk(0, sqrt(z)) + log(sqrt(z)) * besseli(0, sqrt(z)), (0, 1), (0, 9)),
    ("bessel_k1", "(K1(x) - log(x) I1(x) - 1 / x) / x, z = x^2",
     lambda z: (besselk(1, sqrt(z)) - log(sqrt(z)) * besseli(1, sqrt(z)) - 1 / sqrt(z)) / sqrt(z),
     (0, 1), (0, 9)),
    ("bessel_k0_far", "sqrt(x) exp(x) K0(x), z = 1 / (x + 1) - 1 / 4",
     lambda z: far_bessel_k(0, 1 / (z + mpf(1) / 4) - 1), (-0.25, 0.25), (0, 22)),
    ("bessel_k1_far", "sqrt(x) exp(x) K1(x), z = 1 / (x + 1) - 1 / 4",
     lambda z: far_bessel_k(1, 1 / (z + mpf(1) / 4) - 1), (-0.25, 0.25), (0, 22)),
    ("airy_left", "Ai(x), z = x + 4.25", lambda z: airyai(z - mpf(17) / 4), (-1.75, 1.75), (0, 26)),
    ("airy_right", "Ai(x), z = x + 0.75", lambda z: airyai(z - mpf(3) / 4), (-1.75, 1.75), (0, 22)),
    ("airy_far", "Ai(x) exp(zeta) x^(1/4), z = 1 / (zeta + 1) - 0.3, zeta = 2/3 x^(3/2)",
     lambda z: far_airy(1 / (z + mpf(3) / 10) - 1), (-0.3, 0.3), (0, 24)),
    ("airy_p", "P of Ai(-x) as in Hankel's expansion, z = 1 / zeta^2 - 0.0052",
     lambda z: hankel_of_airy(1 / sqrt(z + mpf("0.0052"))).real, (-0.0052, 0.00522), (0, 13)),
    ("airy_q", "Q of it, times zeta",
     lambda z: hankel_of_airy(1 / sqrt(z + mpf("0.0052"))).imag / sqrt(z + mpf("0.0052")),
     (-0.0052, 0.00522), (0, 13)),
    ("power", "2^z, to the last digit", lambda z: 2**z, (-0.5001, 0.5001), (7, 12)),
]  # fmt: skip

# The same, where an error counts as much as the weight at z says.
WEIGHTED = [
    ("erf_far", "-log2(erfc(a)), z = a - 1, for 1 - erfc(a)", lambda z: -log(erfc(z + 1), 2),
     ((0, 3), (0, 5)), (7, 19), lambda z: erfc(z + 1)),
]  # fmt: skip

# name, meaning, function, interval of z, degrees of numerator and denominator; for float alone
RATIOS = [
    ("normal", "(normal_cdf(x) - 1/2) / x, z = x^2, as a ratio",
     lambda z: (ncdf(sqrt(z)) - mpf(1) / 2) / sqrt(z), (0, 29), (5, 6)),
]  # fmt: skip


def scaled_erfc(a):
    return exp(a * a) * erfc(a)


def erfinv_over_x(w):
    """Of x = sqrt(1 - exp(-w)): where the logarithm of erfc(y) erfc(-y), that is 1 - x^2, is -w."""
    y = findroot(lambda y: log(erfc(y)) + log(2 - erfc(y)) + w, 0.9 * sqrt(w), tol=mpf(10) ** -200)
    return y / sqrt(-expm1(-w))


def root_of(z):
    return 1 / (z + mpf(1) / 20) - 8


def stirling(x):
    return x * (loggamma(x) - (x - mpf(1) / 2) * log(x) + x - log(2 * pi) / 2)


def without_zeros(n, x):
    r, s = besseljzero(n, 1), besseljzero(n, 2)
    return besselj(n, x) / (x * x - r * r) / (x * x - s * s)


def rest_of_bessel_y(n, x):
    return bessely(n, x) - 2 / pi * (log(x) * besselj(n, x) - n / x)


def hankel(n, x):
    """H_n(x) over its leading term: P + i Q of Hankel's expansion."""
    return hankel1(n, x) * exp(-1j * (x - (2 * n + 1) * pi / 4)) * sqrt(pi * x / 2)


def far_airy(zeta):
    x = (3 * zeta / 2) ** (mpf(2) / 3)
    return airyai(x) * exp(zeta) * x ** (mpf(1) / 4)


def hankel_of_airy(zeta):
    x = (3 * zeta / 2) ** (mpf(2) / 3)
    turned = mpc(airyai(-x), airybi(-x)) * exp(1j * (zeta - pi / 4))
    return turned * sqrt(pi) * x ** (mpf(1) / 4)


def far_bessel_i(n, x):
    return sqrt(x) * exp(-x) * besseli(n, x)


def far_bessel_k(n, x):
    return sqrt(x) * exp(x) * besselk(n, x)


def fit(f, low, high, count):
    """Coefficients, lowest first, of the polynomial through f at `count` Chebyshev nodes."""
    nodes = chebyshev_nodes(low, high, count)
    powers = matrix([[z**j for j in range(count)] for z in nodes])
    return list(lu_solve(powers, matrix([f(z) for z in nodes])))


def fit_weighted(f, low, high, count, weight):
    """The same by least squares of the weighted errors."""
    nodes = chebyshev_nodes(low, high, 8 * count)
    rows = matrix([[weight(z) * z**j for j in range(count)] for z in nodes])
    values = matrix([weight(z) * f(z) for z in nodes])
    return list(lu_solve(rows.T * rows, rows.T * values))


def chebyshev_nodes(low, high, count):
    low, high = mpf(low), mpf(high)
    nodes = [
        (low + high) / 2 + (high - low) / 2 * cos(pi * (2 * k + 1) / (2 * count))
        for k in range(count)
    ]
    return [z if abs(z) > 1e-15 else mpf(10) ** -15 for z in nodes]


def fit_ratio(f, low, high, top, bottom):
    """Both polynomials, lowest power first, of the ratio through f; the lower one begins with 1."""
    nodes = chebyshev_nodes(low, high, top + bottom + 1)
    rows = [
        [z**j for j in range(top + 1)] + [-f(z) * z**j for j in range(1, bottom + 1)] for z in nodes
    ]
    solution = list(lu_solve(matrix(rows), matrix([f(z) for z in nodes])))
    return solution[: top + 1], [mpf(1), *solution[top + 1 :]]


def text(values, suffix, digits):
    lines, line = [], "     "
    for v in values:
        item = f" {mp.nstr(v, digits, min_fixed=0, max_fixed=0)}{suffix},"
        if len(line) + len(item) > 99:
            lines.append(line)
            line = "     "
        line += item
    return "\n".join([*lines, line]).rstrip(",")


def main():
    print(
        "// Written by tools/fit_math.py: change that, not this. Coefficients, lowest power first."
    )
    print("#pragma once\n\nnamespace rushlight::coefficients {\n")
    print("template <class T>\nstruct Of;")
    for type_name, which, suffix, digits in (("float", 0, "f", 10), ("double", 1, "", 19)):
        print(f"\ntemplate <>\nstruct Of<{type_name}> {{")
        for name, meaning, f, (low, high), counts in FITS:
            if not counts[which]:
                continue
            print(f"  // {meaning}\n  static constexpr {type_name} {name}[] = {{")
            print(text(fit(f, low, high, counts[which]), suffix, digits) + "};")
        for name, meaning, f, intervals, counts, weight in WEIGHTED:
            print(f"  // {meaning}\n  static constexpr {type_name} {name}[] = {{")
            values = fit_weighted(f, *intervals[which], counts[which], weight)
            print(text(values, suffix, digits) + "};")
        for name, meaning, f, interval, degrees in RATIOS if which == 0 else ():
            print(f"  // {meaning}")
            for part, values in zip(
                ("top", "bottom"), fit_ratio(f, *interval, *degrees), strict=True
            ):
                print(f"  static constexpr {type_name} {name}_{part}[] = {{")
                print(text(values, suffix, digits) + "};")
        print("};")
    print("\n}  // namespace rushlight::coefficients")


if __name__ == "__main__":
    main()
