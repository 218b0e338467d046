// The incomplete gamma functions, sums of gamma functions and Hurwitz's zeta function, in double;
// every loop is bounded.
#pragma once
#include "quadrature.h"
#include "special.h"

namespace rushlight {

// log(1 + v) - v, without cancellation
HOST_DEVICE inline double log1p_less(double v) {
  if (std::fabs(v) > 0.3) return std::log1p(v) - v;
  const double s = v / (2 + v), z = s * s;
  double sum = 0;
  for (int k = 25; k >= 3; k -= 2) sum = sum * z + 1.0 / k;
  return 2 * s * z * sum - s * v;
}
// x^a exp(-x) / Gamma(a + 1): for large a by Stirling's series, where the logarithms would cancel.
HOST_DEVICE inline double gamma_front(double a, double x) {
  if (a < 10) return std::exp(a * std::log(x) - x - lgamma(a + 1));
  const double z = 1 / (a * a);
  const double rest =
      (1. / 12 -
       z * (1. / 360 -
            z * (1. / 1260 - z * (1. / 1680 - z * (1. / 1188 - z * (691. / 360360 - z / 156)))))) /
      a;
  return std::exp(a * log1p_less((x - a) / a) - rest) / std::sqrt(2 * kPi<double> * a);
}

// The CDF of the gamma distribution of shape a at x, or 1 minus it.
template <bool kUpper>
HOST_DEVICE inline double gamma_share(double a, double x) {
  constexpr double infinity = kInfinity<double>;
  const auto from_lower = [](double lower) { return kUpper ? 1 - lower : lower; };
  const auto from_upper = [](double upper) { return kUpper ? upper : 1 - upper; };
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == infinity && x == infinity))
    return kNaN<double>;
  if (a == 0 || x == infinity) return from_upper(0);
  if (x == 0 || a == infinity) return from_lower(0);
  if (kUpper && x <= 1 && a <= 1) {  // here it is small where a is
    double term = 1, sum = 0;
    for (double n = 1; n < 30 && std::fabs(term) > 1e-19; ++n) {
      term *= -x / n;
      sum += term * a / (a + n);
    }
    const double l = a * std::log(x) - lgamma(a + 1);
    return -std::expm1(l) - std::exp(l) * sum;
  }
  const double front = gamma_front(a, x);
  if (a > 200 && std::fabs(x - a) < 0.3 * a) {  // the density from x away from the mean
    const double side = x > a ? 1 : -1;
    const auto exponent = [&](double s) {
      return (a - 1) * log1p_less(side * s / x) + side * s * ((a - 1 - x) / x);
    };
    double width = std::sqrt(a);
    for (int i = 0; i < 20 && width < x && exponent(width) > -40; ++i) width *= 1.5;
    if (side < 0) width = std::fmin(width, x);
    const double tail =
        front * a / x * integral(width, 12, [&](double s) { return std::exp(exponent(s)); });
    return side > 0 ? from_upper(tail) : from_lower(tail);
  }
  // No term is negative: only 1 minus the sum loses digits where that is small.
  if (x < a + (kUpper ? 1 : 6)) {
    double term = 1, sum = 1;
    for (double n = 1; n < 500 && term > 1e-17 * sum; ++n) {
      term *= x / (a + n);
      sum += term;
    }
    return from_lower(front * sum);
  }
  // The continued fraction (DLMF 8.9.2) from its convergents p / q, whose quotient nothing waits
  // for
  double b = x + 1 - a, before_p = 0, before_q = 1, p = 1, q = b, value = 1 / b;
  for (double n = 1; n < 500; ++n) {
    const double an = n * (a - n);
    b += 2;
    const double next_p = b * p + an * before_p, next_q = b * q + an * before_q;
    before_p = p, before_q = q, p = next_p, q = next_q;
    const double before = value;
    value = p / q;
    if (std::fabs(value - before) <= 1e-16 * value) break;
    if (q > 1e200) before_p *= 1e-200, before_q *= 1e-200, p *= 1e-200, q *= 1e-200;
  }
  return from_upper(front * a * value);
}
HOST_DEVICE inline double igamma(double a, double x) { return gamma_share<false>(a, x); }
HOST_DEVICE inline double igammac(double a, double x) { return gamma_share<true>(a, x); }

inline constexpr int kMostGammas = 1 << 20;  // a call must end

// The logarithm of the gamma function of p variables, or with n its n-th derivative: a constant and
// the sum of those of lgamma at x, x - 1/2, ..., x - (p - 1) / 2.
HOST_DEVICE inline double sum_of_lgamma(double x, double n, double p) {
  const int count = p < kMostGammas ? int(p) : kMostGammas;
  double sum = n == 0 ? p * (p - 1) * 0.286182471462350044 : 0;  // log(pi) / 4
  for (int j = 0; j < count; ++j) {
    const double at = x - 0.5 * j;
    sum += n == 0 ? lgamma(at) : polygamma(n - 1, at);
  }
  return sum;
}

// The sum of (q + k)^-x for x > 1, q > 0, by Euler and Maclaurin.
HOST_DEVICE inline double zeta_of_positive(double x, double q) {
  constexpr double tail[] = {1. / 12,       -1. / 720,     1. / 30240,
                             -1. / 1209600, 1. / 47900160, -691. / 1307674368000};
  double sum = 0;
  for (int k = 0; k < 9; ++k) sum += ::pow(q + k, -x);
  const double start = q + 9;
  double power = ::pow(start, -x), factor = x;
  sum += power * start / (x - 1) + 0.5 * power;
  power /= start;
  for (int k = 0; k < 6; ++k) {
    const double part = tail[k] * factor * power;
    if (part == 0) break;  // then the next factor may be infinite
    sum += part;
    factor *= (x + 2 * k + 1) * (x + 2 * k + 2);
    power /= start * start;
  }
  return sum;
}
HOST_DEVICE inline double zeta(double x, double q) {
  if (x == 1) return kInfinity<double>;
  if (x < 1) return kNaN<double>;
  if (q <= 0 && q == std::floor(q)) return kInfinity<double>;
  if (!(x > 1) || !(std::fabs(q) < kInfinity<double>)) return kNaN<double>;
  if (x == kInfinity<double>) return q < 1 ? x : q == 1 ? 1 : kNaN<double>;  // as torch
  if (q > 0) return zeta_of_positive(x, q);
  if (x != std::floor(x)) return kNaN<double>;
  // The terms below 0 are those of another such sum, backwards; an integer power gives their sign.
  const double share = -q - std::floor(-q);
  const double below = zeta_of_positive(x, share) - zeta_of_positive(x, 1 - q);
  return zeta_of_positive(x, 1 - share) + (std::fmod(x, 2) != 0 ? -below : below);
}

}  // namespace rushlight
