// Powers: of floats in double, which leaves bits to spare, of doubles with a logarithm in two
// parts.
#pragma once
#include "exponential.h"

namespace rushlight {

// a number as the sum of two
struct Parts {
  double high, low;
};

// log(x) of a positive normal number to 2^-65 of itself: 2 s (1 + s^2 / 3 + ...) for
// s = (m - 1) / (m + 1), where s and s^2 / 3 are in two parts.
HOST_DEVICE inline Parts precise_log(double x) {
  using L = Layout<double>;
  const bool tiny = x < L::smallest;
  const double normal = tiny ? x * L::to_normal : x;
  const auto bits = std::bit_cast<std::uint64_t>(normal);
  const std::int64_t k = std::int64_t(bits - std::uint64_t(L::sqrt_half)) >> L::mantissa;
  const double m = std::bit_cast<double>(bits - std::uint64_t(k << L::mantissa));
  const double shifted =
      std::bit_cast<double>(std::bit_cast<std::int64_t>(L::magic) + k) - L::magic;
  const double e = tiny ? shifted - 52 : shifted;
  const double f = m - 1, g = m + 1, g_low = m - (g - 1), inverse = 1 / g;
  const double s = f * inverse, back = s * g;
  const double s_low = (((f - back) - product_error(s, g, back)) - s * g_low) * inverse;
  const double z = s * s, z_low = product_error(s, s, z) + 2 * s * s_low;
  constexpr double third = 1. / 3, third_low = 1.85037170770859413e-17;
  const double u = z * third, u_low = product_error(z, third, u) + (z * third_low + z_low * third);
  const double rest = z * z * polynomial<coefficients::Of<double>::log_rest>(z);
  // 2 s (1 + u + u_low + rest)
  const double t = 2 * s, t_low = 2 * s_low;
  const double v = t * u, v_low = product_error(t, u, v) + (t * (u_low + rest) + t_low * u);
  const double a = e * L::ln2_high;  // exact
  const double high = a + t, high_low = t - (high - a);
  const double sum = high + v, sum_low = v - (sum - high);
  return {sum, high_low + (sum_low + (v_low + (t_low + e * L::ln2_low)))};
}

// The sign of a^b as a factor, NaN where a negative number has no such power. Conditions on b
// alone, the same for a whole loop, cannot be vectors of bool.
template <Real T>
HOST_DEVICE inline T sign_of_power(T a, T b) {
  const T half = b * T(0.5);
  const T odd = floor(half) != half ? T(-1) : T(1);
  const T of_zero = floor(b) == b ? odd : T(1);  // of -0 and -inf
  const T of_negative = floor(b) == b ? odd : kNaN<T>;
  const T below = a == -kInfinity<T> ? of_zero : of_negative;
  const T other = signbit(a) ? of_zero : T(1);
  return a < T(0) ? below : other;
}

HOST_DEVICE inline double pow(double a, double b) {
  if constexpr (kDeviceCode) return ::pow(a, b);
  using L = Layout<double>;
  const double x = abs(a);
  const Parts l = precise_log(x);
  const double not_zero = x < kInfinity<double> ? l.high : x;
  const double log_high = x == 0 ? -kInfinity<double> : not_zero;
  const double of_one = x == 1 ? 0 : log_high * b;
  const double product = b == 0 ? 0 : of_one;
  const double below = product > L::exp_high ? L::exp_high : product;
  const double p = below < L::exp_low ? L::exp_low : below;
  const double error = product_error(log_high, b, p) + l.low * b;
  const double low = abs(error) < 1 ? error : 0.0;  // not of what is no number or was cut off
  const double shifted = p * 1.44269504088896340736 + L::magic, n = shifted - L::magic;
  const double r = ((p - n * L::ln2_high) - n * L::ln2_low) + low;
  return scaled_exp<double>(r, integer_of(shifted)) * sign_of_power(a, b);
}
HOST_DEVICE inline float pow(float a, float b) {
  if constexpr (kDeviceCode) return ::powf(a, b);
  using L = Layout<double>;
  using C = coefficients::Of<double>;
  const double x = std::fabs(a), e = b;  // as a double it is a normal number
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::int64_t k = std::int64_t(bits - std::uint64_t(L::sqrt_half)) >> L::mantissa;
  const double f = std::bit_cast<double>(bits - std::uint64_t(k << L::mantissa)) - 1;
  const double whole = std::bit_cast<double>(std::bit_cast<std::int64_t>(L::magic) + k) - L::magic;
  const double log = whole + f * polynomial<C::log2>(f);
  const double at_infinity = x < kInfinity<double> ? log : x * 1e306;
  const double bounded = x == 0 ? -1e306 : at_infinity;
  const double of_one = x == 1 ? 0 : bounded * e;
  const double product = e == 0 ? 0 : of_one;
  const double below = product > 1000 ? 1000 : product;  // beyond a float's range, not a double's
  const double p = below < -1000 ? -1000 : below;
  const double shifted = p + L::magic, n = shifted - L::magic;
  const double size = polynomial<C::exp2>(p - n) * power_of_two<double>(integer_of(shifted));
  return static_cast<float>(size) * sign_of_power(a, b);
}

}  // namespace rushlight
