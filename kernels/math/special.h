// erf and its kin, gamma functions. float erf is ours, as gelu needs it fast; the others are rare
// and go one element at a time.
#pragma once
#include "exponential.h"
#include "trigonometric.h"

namespace rushlight {

HOST_DEVICE inline double erf(double x) { return ::erf(x); }
HOST_DEVICE inline float erf(float x) {
  if constexpr (kDeviceCode) return ::erff(x);
  const float a = std::fabs(x), bounded = a > 4.f ? 4.f : a;
  const float z = a > 0.93f ? 0.f : x * x;
  const float small = x * polynomial<coefficients::Of<float>::erf>(z);
  const float large = 1.f - exp(polynomial<coefficients::Of<float>::log_erfc>(bounded));
  return a < 0.925f ? small : std::copysign(x == x ? large : x, x);
}
// The share of a normal distribution below x: gelu(x) / x.
HOST_DEVICE inline double normal_cdf(double x) {
  return 0.5 * (1 + erf(x * 0.707106781186547524401));
}
HOST_DEVICE inline float normal_cdf(float x) {
  if constexpr (kDeviceCode) return 0.5f * (1.f + erf(x * 0.707106781f));
  using C = coefficients::Of<float>;
  const float z = x * x;  // one division costs less than erf's two ranges
  const float from_half = x * polynomial<C::normal_top>(z) / polynomial<C::normal_bottom>(z);
  const float low = x < -5.385f ? -0.5f : from_half;  // where the ratio ends, and the digits too
  return 0.5f + (x > 5.385f ? 0.5f : low);
}
template <Real T>
HOST_DEVICE inline T erfc(T x) {
  return static_cast<T>(::erfc(static_cast<double>(x)));
}
// Winitzki's approximation, then Halley steps on the side where no digits cancel.
template <Real T>
HOST_DEVICE inline T erfinv(T input) {
  const double x = static_cast<double>(input), a = std::fabs(x);
  if (!(a <= 1)) return kNaN<T>;
  if (a == 1) return static_cast<T>(x * kInfinity<double>);
  const double l = ::log1p(-a * a), b = 4.3307467508 + 0.5 * l;
  double y = std::sqrt(std::sqrt(b * b - l / 0.147) - b);
  for (int step = 0; step < 3; ++step) {
    const double error = a > 0.5 ? (1 - a) - ::erfc(y) : ::erf(y) - a;
    const double u = error / (1.12837916709551257390 * ::exp(-y * y));
    y -= u / (1 + y * u);
  }
  return static_cast<T>(std::copysign(a < 1e-300 ? a * 0.886226925452758 : y, x));
}

template <Real T>
HOST_DEVICE inline T lgamma(T x) {
  if constexpr (kDeviceCode) {
    return static_cast<T>(::lgamma(static_cast<double>(x)));
  } else {
    int sign;  // lgamma() itself writes a global
    return static_cast<T>(::lgamma_r(static_cast<double>(x), &sign));
  }
}

// The polygamma function of order n >= 1 by its recurrence up to 12 and the asymptotic series
// (Abramowitz and Stegun 6.4.11); by reflection for negative x in orders 1 and 2.
HOST_DEVICE inline double polygamma_positive(int n, double x) {
  double factorial = 1;  // (n - 1)!
  for (int i = 2; i < n; ++i) factorial *= i;
  double sum = 0;
  for (; x < 12 + n; x += 1) sum += factorial * n / ::pow(x, n + 1);
  constexpr double kBernoulli[] = {1. / 6,  -1. / 30,     1. / 42, -1. / 30,
                                   5. / 66, -691. / 2730, 7. / 6};
  sum += factorial / ::pow(x, n) + factorial * n / (2 * ::pow(x, n + 1));
  double rising = factorial;  // (2k + n - 1)! / (2k)!
  for (int k = 1; k <= 7; ++k) {
    rising *= double(2 * k + n - 2) * (2 * k + n - 1) / (double(2 * k - 1) * (2 * k));
    sum += kBernoulli[k - 1] * rising / ::pow(x, 2 * k + n);
  }
  return n % 2 ? sum : -sum;
}
HOST_DEVICE inline double digamma_positive(double x) {
  double sum = 0;
  for (; x < 10; x += 1) sum -= 1 / x;
  const double z = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x -
         z * (1. / 12 - z * (1. / 120 - z * (1. / 252 - z * (1. / 240 - z * (1. / 132)))));
}
HOST_DEVICE inline double digamma_of(double x) {
  if (x == 0) return std::copysign(kInfinity<double>, -x);
  if (!(x < 0)) return digamma_positive(x);
  if (x == std::floor(x)) return kNaN<double>;
  return digamma_positive(1 - x) - kPi<double> / std::tan(kPi<double> * (x - std::nearbyint(x)));
}
template <Real T>
HOST_DEVICE inline T digamma(T x) {
  return static_cast<T>(digamma_of(static_cast<double>(x)));
}
template <Real T>
HOST_DEVICE inline T polygamma(T order, T input) {
  const int n = order < T(20) ? static_cast<int>(order) : 20;
  double x = static_cast<double>(input);
  if (n == 0) return static_cast<T>(digamma_of(x));
  if (!(x == x)) return input;
  if (x == kInfinity<double>) return T(0);
  if (x > 0) return static_cast<T>(polygamma_positive(n, x));
  if (x == std::floor(x)) return n % 2 ? kInfinity<T> : kNaN<T>;
  // down to -1 < x by the recurrence would lose digits far out; reflection is exact for the orders
  // that gradients of lgamma reach
  const double angle = kPi<double> * x, s = std::sin(angle), c = std::cos(angle);
  const double p = kPi<double>;
  if (n == 1) return static_cast<T>(p * p / (s * s) - polygamma_positive(1, 1 - x));
  if (n == 2) return static_cast<T>(polygamma_positive(2, 1 - x) - 2 * p * p * p * c / (s * s * s));
  double sum = 0, factorial = 1;
  for (int i = 2; i <= n; ++i) factorial *= i;
  if (x < -1e6) return kNaN<T>;
  for (; x < 1; x += 1) sum += (n % 2 ? factorial : -factorial) / ::pow(x, n + 1);
  return static_cast<T>(sum + polygamma_positive(n, x));
}

}  // namespace rushlight
