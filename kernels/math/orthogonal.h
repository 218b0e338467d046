// Orthogonal polynomials by their recurrences, in double; those of Chebyshev by their closed forms
// above degree 8. The degree comes as a double and is cut to an integer; below 0 all are 0.
#pragma once
#include "real.h"

namespace rushlight {

enum class Chebyshev { t, u, v, w };

// Neither below 0, nor NaN, nor more than 64 bits can hold.
HOST_DEVICE inline bool is_degree(double n) { return n >= 0 && n < 9223372036854775808.0; }

HOST_DEVICE inline double chebyshev(Chebyshev kind, double x, double degree) {
  const double n = std::trunc(degree);
  if (!is_degree(n)) return 0;
  if (n <= 8) {
    double before = 1;
    double here = kind == Chebyshev::t   ? x
                  : kind == Chebyshev::u ? 2 * x
                  : kind == Chebyshev::v ? 2 * x - 1
                                         : 2 * x + 1;
    if (n == 0) return 1;
    for (int k = 1; k < int(n); ++k) {
      const double next = 2 * x * here - before;
      before = here;
      here = next;
    }
    return here;
  }
  const double parity = std::fmod(n, 2) != 0 ? -1 : 1, sign = x < 0 ? parity : 1;
  const double a = std::fabs(x);
  // V(-x) is (-1)^n W(x): from here on x is positive
  const bool swaps = x < 0 && (kind == Chebyshev::v || kind == Chebyshev::w);
  const bool is_v = (kind == Chebyshev::v) != swaps;
  if (a == 1) {
    if (kind == Chebyshev::t) return sign;
    if (kind == Chebyshev::u) return sign * (n + 1);
    return sign * (is_v ? 1 : 2 * n + 1);
  }
  if (a < 1) {
    const double angle = std::acos(a);
    if (kind == Chebyshev::t) return sign * std::cos(n * angle);
    if (kind == Chebyshev::u) return sign * std::sin((n + 1) * angle) / std::sin(angle);
    if (is_v) return sign * std::cos((n + 0.5) * angle) / std::cos(angle / 2);
    return sign * std::sin((n + 0.5) * angle) / std::sin(angle / 2);
  }
  const double angle = std::acosh(a);
  if (kind == Chebyshev::t) return sign * std::cosh(n * angle);
  if (kind == Chebyshev::u) return sign * std::sinh((n + 1) * angle) / std::sinh(angle);
  if (is_v) return sign * std::cosh((n + 0.5) * angle) / std::cosh(angle / 2);
  return sign * std::sinh((n + 0.5) * angle) / std::sinh(angle / 2);
}

// Of the physicists; with `monic` of the probabilists. NaN above degree 512, as in torch.
HOST_DEVICE inline double hermite(double x, double degree, bool monic) {
  const double n = std::trunc(degree), twice = monic ? x : 2 * x, step = monic ? 1 : 2;
  if (!is_degree(n)) return 0;
  if (n > 512) return kNaN<double>;
  double before = 0, here = 1;
  for (int k = 0; k < int(n); ++k) {
    const double next = twice * here - step * k * before;
    before = here;
    here = next;
  }
  return here;
}

// Above this degree Laguerre's and Legendre's are NaN: a call must end.
inline constexpr int kHighestDegree = 1 << 17;

HOST_DEVICE inline double laguerre(double x, double degree) {
  const double n = std::trunc(degree);
  if (!is_degree(n)) return 0;
  if (x == 0) return 1;
  if (n > kHighestDegree) return kNaN<double>;
  double before = 0, here = 1;
  for (int k = 0; k < int(n); ++k) {
    const double next = ((2 * k + 1 - x) * here - k * before) / (k + 1);
    before = here;
    here = next;
  }
  return here;
}
HOST_DEVICE inline double legendre(double x, double degree) {
  const double n = std::trunc(degree);
  if (!is_degree(n)) return 0;
  if (std::fabs(x) == 1) return x < 0 && std::fmod(n, 2) != 0 ? -1 : 1;
  if (n > kHighestDegree) return kNaN<double>;
  double before = 0, here = 1;
  for (int k = 0; k < int(n); ++k) {
    const double next = ((2 * k + 1) * x * here - k * before) / (k + 1);
    before = here;
    here = next;
  }
  return here;
}

}  // namespace rushlight
