// The normal distribution's CDF, lgamma and its derivatives; polygamma is rare and goes one
// element at a time.
#pragma once
#include "error.h"
#include "trigonometric.h"

namespace rushlight {

// The CDF of the standard normal distribution: gelu(x) / x.
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
HOST_DEVICE inline T lgamma(T x) {
  if constexpr (kDeviceCode) {
    return static_cast<T>(::lgamma(static_cast<double>(x)));
  } else {
    int sign;  // lgamma() itself writes a global
    return static_cast<T>(::lgamma_r(static_cast<double>(x), &sign));
  }
}
// (x - 1) (x - 2) ... of as many factors as `steps` says, at most N.
template <int N>
HOST_DEVICE inline double falling_product(double x, double steps) {
  const double factor = x - N;
  if constexpr (N == 0)
    return 1;
  else
    return falling_product<N - 1>(x, steps) * (N <= steps ? factor : 1.0);
}
// The same for x >= 0 without a branch: series around 1 and 2, by the recurrence below and up to 8,
// then Stirling's series. One logarithm serves all of them.
HOST_DEVICE inline double lgamma_not_negative(double x) {
  using C = coefficients::Of<double>;
  const double steps = floor(x - 1.5);  // from x down into [1.5, 2.5)
  const double product = falling_product<6>(x, steps);
  const bool is_low = x < 0.7, is_far = x >= 8;
  const double reduced = is_low ? x : product;
  const Logarithm<double> l = logarithm(is_far ? x : reduced);
  const double high = l.e * Layout<double>::ln2_high;
  const double low = l.f - (l.correction - l.e * Layout<double>::ln2_low);
  const double inverse = 1 / x;
  const double far =
      (x - 0.5) * ((high - 1) + low) +
      (0.418938533204672741780 + inverse * polynomial<C::stirling>(inverse * inverse));
  const double z1 = is_low ? x : x - 1, z2 = x - (steps > 0 ? steps : 0.0) - 2;
  const double of_1 = z1 * polynomial<C::log_gamma_of_1>(x < 1.5 ? z1 : 0.0);
  const double of_2 = z2 * polynomial<C::log_gamma_of_2>(is_far ? 0.0 : z2);
  const double around_1 = is_low ? of_1 - (high + low) : of_1;
  const double near = x < 1.5 ? around_1 : of_2 + (high + low);
  const double y = is_far ? far : near;
  const double edge = x == 0 ? kInfinity<double> : y;
  return x == kInfinity<double> ? x : edge;
}
// x (x + 1) ... of as many factors as `steps` says, at most N, in two parts: near the zeros of
// lgamma the product is near 1, and one rounding of it would be many units of its logarithm.
struct ProductInParts {
  double value, low;
};
template <int N>
HOST_DEVICE inline ProductInParts rising_factors(double x, double steps) {
  if constexpr (N == 1) {
    return {x, 0};
  } else {
    const ProductInParts p = rising_factors<N - 1>(x, steps);
    const double factor = N <= steps ? x + (N - 1) : 1.0, value = p.value * factor;
    return {value, p.low * factor + product_error(p.value, factor, value)};
  }
}
inline constexpr double kLgammaReflected = -7.5;  // and all below
// Below 0 without a branch: by the recurrence from [1.5, 2.5], and far below from the value at
// 1 - x (DLMF 5.5.3), which loses digits near its zeros.
HOST_DEVICE inline double lgamma_negative(double x, double at_1_minus_x) {
  using C = coefficients::Of<double>;
  const double turn = x - round(x);
  const ProductInParts p = rising_factors<9>(x, 2 - round(x));
  const Logarithm<double> l = logarithm(abs(p.value));
  const double low = l.correction - l.e * Layout<double>::ln2_low - p.low / p.value;
  const double of_2 = turn * polynomial<C::log_gamma_of_2>(turn);
  const double near = (of_2 - (l.f - low)) - l.e * Layout<double>::ln2_high;
  const double far = log(kPi<double> / abs(sin(kPi<double> * turn))) - at_1_minus_x;
  const double y = x <= kLgammaReflected ? far : near;
  return (turn == 0) | (x < -4.6e15) ? kInfinity<double> : y;  // from there on all are integers
}

// The polygamma function of order n >= 1 by its recurrence up to 12 and the asymptotic series
// (Abramowitz and Stegun 6.4.11); by reflection for negative x in orders 1 and 2.
HOST_DEVICE inline double whole_power(double x, int n) {
  if (n > 4) return ::pow(x, n);  // which rounds once
  double power = x;
  for (int i = 1; i < n; ++i) power *= x;
  return power;
}
HOST_DEVICE inline double polygamma_positive(int n, double x) {
  double factorial = 1;  // (n - 1)!
  for (int i = 2; i < n; ++i) factorial *= i;
  double sum = 0;
  for (; x < 12 + n; x += 1) sum += factorial * n / whole_power(x, n + 1);
  constexpr double kBernoulli[] = {1. / 6,  -1. / 30,     1. / 42, -1. / 30,
                                   5. / 66, -691. / 2730, 7. / 6};
  double power = whole_power(x, n);
  sum += factorial / power + factorial * n / (2 * (power * x));
  double rising = factorial;  // (2k + n - 1)! / (2k)!
  for (int k = 1; k <= 7; ++k) {
    rising *= double(2 * k + n - 2) * (2 * k + n - 1) / (double(2 * k - 1) * (2 * k));
    power *= x * x;
    sum += kBernoulli[k - 1] * rising / power;
  }
  return n % 2 ? sum : -sum;
}
// Its order 1, the derivative of digamma, without powers and without a branch: the terms
// 1 / (x + k)^2 of the recurrence, for k from `first` to 11, are one quotient.
struct Quotient {
  double top, bottom;
};
template <int first>
HOST_DEVICE inline Quotient sum_of_inverse_squares(double x) {
  if constexpr (first == 12) {
    return {0, 1};
  } else {
    const Quotient q = sum_of_inverse_squares<first + 1>(x);
    const double square = (x + first) * (x + first);
    return {q.top * square + q.bottom, q.bottom * square};
  }
}
HOST_DEVICE inline double trigamma_positive(double input) {
  const bool is_low = input < 12;
  const Quotient steps = sum_of_inverse_squares<0>(is_low ? input : 1.0);
  const double ratio = steps.top / steps.bottom, sum = is_low ? ratio : 0.0;
  const double x = is_low ? input + 12 : input;
  const double y = 1 / x, z = y * y;
  const double series =
      1. / 6 -
      z * (1. / 30 -
           z * (1. / 42 - z * (1. / 30 - z * (5. / 66 - z * (691. / 2730 - z * (7. / 6))))));
  return sum + y + z * (0.5 + y * series);
}
// x (x + 1) ... (x + N - 1) and its derivative.
struct RisingProduct {
  double value, slope;
};
template <int N>
HOST_DEVICE inline RisingProduct rising_product(double x) {
  if constexpr (N == 0) {
    return {1, 0};
  } else {
    const RisingProduct p = rising_product<N - 1>(x);
    const double factor = x + (N - 1);
    return {p.value * factor, p.slope * factor + p.value};
  }
}
// For x >= 0 without a branch: the recurrence up to 10, whose sum of inverses is one quotient.
HOST_DEVICE inline double digamma_not_negative(double x) {
  const bool is_low = x < 10;
  const RisingProduct steps = rising_product<10>(is_low ? x : 1.0);
  const double y = is_low ? x + 10 : x, inverse = 1 / y, z = inverse * inverse;
  const double far =
      log(y) - 0.5 * inverse -
      z * (1. / 12 -
           z * (1. / 120 - z * (1. / 252 - z * (1. / 240 - z * (1. / 132 - z * (691. / 32760 -
                                                                                z * (1. / 12)))))));
  const double near = far - steps.slope / steps.value, zero = copysign(kInfinity<double>, -x);
  const double result = is_low ? near : far;
  return x == 0 ? zero : result;
}
// Below 0 from the value at 1 - x (DLMF 5.5.4), without a branch.
HOST_DEVICE inline double digamma_reflected(double x, double value) {
  const double y = value - kPi<double> / tan(kPi<double> * (x - round(x)));
  return x == floor(x) ? kNaN<double> : y;
}
HOST_DEVICE inline double digamma_of(double x) {
  if (!(x < 0)) return digamma_not_negative(x);
  return digamma_reflected(x, digamma_not_negative(1 - x));
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
  if (x == kInfinity<double>) return n == 1 ? T(0) : kNaN<T>;  // as torch; the limit is 0
  if (x > 0) return static_cast<T>(n == 1 ? trigamma_positive(x) : polygamma_positive(n, x));
  if (x == std::floor(x)) return n % 2 ? kInfinity<T> : -kInfinity<T>;  // as torch
  // down to -1 < x by the recurrence would lose digits far out; reflection is exact for the orders
  // that gradients of lgamma reach
  const double angle = kPi<double> * x, s = std::sin(angle), c = std::cos(angle);
  const double p = kPi<double>;
  if (n == 1) return static_cast<T>(p * p / (s * s) - trigamma_positive(1 - x));
  if (n == 2) return static_cast<T>(polygamma_positive(2, 1 - x) - 2 * p * p * p * c / (s * s * s));
  double sum = 0, factorial = 1;
  for (int i = 2; i <= n; ++i) factorial *= i;
  if (x < -1e6) return kNaN<T>;
  for (; x < 1; x += 1) sum += (n % 2 ? factorial : -factorial) / ::pow(x, n + 1);
  return static_cast<T>(sum + polygamma_positive(n, x));
}

}  // namespace rushlight
