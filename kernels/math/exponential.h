// Exponentials, logarithms, powers and the hyperbolic functions.
#pragma once
#include <type_traits>

#include "real.h"

namespace rushlight {

// 2^k, exact for |k| within the exponent's range.
template <Real T>
HOST_DEVICE inline T power_of_two(typename Layout<T>::Int k) {
  return std::bit_cast<T>((k + Layout<T>::bias) << Layout<T>::mantissa);
}

// The integer in `shifted`, a number to which Layout::magic was added.
template <Real T>
HOST_DEVICE inline auto integer_of(T shifted) {
  using Int = typename Layout<T>::Int;
  return std::bit_cast<Int>(shifted) - std::bit_cast<Int>(Layout<T>::magic);
}

// (factor + low) * exp(r) * 2^k for |r| <= ln(2) / 2 and a low that is nearly nothing. Two steps:
// 2^k itself may be out of range.
template <Real T>
HOST_DEVICE inline T scaled_exp(T r, typename Layout<T>::Int k, T factor = T(1), T low = T(0)) {
  const T p = factor + (factor * (r + r * r * polynomial<coefficients::Of<T>::exp>(r)) + low);
  const auto half = k >> 1;
  return p * power_of_two<T>(half) * power_of_two<T>(k - half);
}

// exp(x) * 2^shift, for a small constant shift.
template <Real T>
HOST_DEVICE inline T exp_times(T x, typename Layout<T>::Int shift) {
  using L = Layout<T>;
  x = x > L::exp_high ? L::exp_high : x;  // a NaN fails both tests and passes through
  x = x < L::exp_low ? L::exp_low : x;
  const T shifted = x * T(1.44269504088896340736) + L::magic, n = shifted - L::magic;
  return scaled_exp<T>((x - n * L::ln2_high) - n * L::ln2_low, integer_of(shifted) + shift);
}

template <Real T>
HOST_DEVICE inline T exp(T x) {
  if constexpr (kDeviceCode) return ::exp(x);
  return exp_times(x, 0);
}
template <Real T>
HOST_DEVICE inline T exp2(T x) {
  if constexpr (kDeviceCode) return ::exp2(x);
  using L = Layout<T>;
  const T high = T(L::bias + 2), low = -T(L::bias + L::mantissa + 2);
  x = x > high ? high : x;
  x = x < low ? low : x;
  const T shifted = x + L::magic, n = shifted - L::magic;
  return scaled_exp<T>((x - n) * T(0.693147180559945309417), integer_of(shifted));
}
template <Real T>
HOST_DEVICE inline T expm1(T x) {
  if constexpr (kDeviceCode) return ::expm1(x);
  using L = Layout<T>;
  const T high = L::exp_high - T(2);  // 2^k / 2 must be a number
  T z = x > high ? high : x;
  z = z < T(-40) ? T(-40) : z;
  const T shifted = z * T(1.44269504088896340736) + L::magic, n = shifted - L::magic;
  const T r = (z - n * L::ln2_high) - n * L::ln2_low;
  const T p = r + r * r * polynomial<coefficients::Of<T>::exp>(r);
  // half of it first: 2^k may be just out of range where the result is not
  const T half = power_of_two<T>(integer_of(shifted) - 1);
  const T y = T(2) * (half * p + (half - T(0.5)));
  return x * x == T(0) ? x : y;  // also where half * p would lose bits to underflow
}

// x = 2^e * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); log(1 + f) = f - correction.
template <Real T>
struct Logarithm {
  T e, f, correction;
};
template <Real T>
HOST_DEVICE inline Logarithm<T> logarithm(T x) {
  using L = Layout<T>;
  using Int = typename L::Int;
  using Bits = std::make_unsigned_t<Int>;  // those of negative numbers may wrap
  const bool tiny = x < L::smallest;
  const T normal = tiny ? x * L::to_normal : x;
  const Bits bits = std::bit_cast<Bits>(normal);
  const Int k = Int(bits - Bits(L::sqrt_half)) >> L::mantissa;
  const T f = std::bit_cast<T>(bits - Bits(k << L::mantissa)) - T(1);
  const T s = f / (T(2) + f), z = s * s, half_square = T(0.5) * f * f;
  const T rest = z * polynomial<coefficients::Of<T>::log>(z);
  // k as a T by way of the magic number: AVX2 has no conversion from int64
  const T e = std::bit_cast<T>(std::bit_cast<Int>(L::magic) + k) - L::magic;
  return {tiny ? e - T(L::mantissa) : e, f, half_square - s * (half_square + rest)};
}

// One select per special case: a chain of tests becomes control flow once inlined into a longer
// formula, and then the loop is not vectorised.
template <Real T>
HOST_DEVICE inline T with_special_cases_of_log(T x, T y) {
  const T positive = x == kInfinity<T> ? x : y;
  const T from_zero = x == T(0) ? -kInfinity<T> : positive;
  const T negative = x < T(0) ? kNaN<T> : from_zero;
  return x == x ? negative : x;
}

template <Real T>
HOST_DEVICE inline T log(T x) {
  if constexpr (kDeviceCode) return ::log(x);
  const Logarithm<T> l = logarithm(x);
  const T low = l.e * Layout<T>::ln2_low;
  return with_special_cases_of_log(x, l.e * Layout<T>::ln2_high + (l.f - (l.correction - low)));
}
template <Real T>
HOST_DEVICE inline T log2(T x) {
  if constexpr (kDeviceCode) return ::log2(x);
  const Logarithm<T> l = logarithm(x);
  const T c = T(1.44269504088896340736);
  return with_special_cases_of_log(x, l.e + (l.f * c - l.correction * c));
}
template <Real T>
HOST_DEVICE inline T log10(T x) {
  if constexpr (kDeviceCode) return ::log10(x);
  const Logarithm<T> l = logarithm(x);
  const T c = T(0.434294481903251827651);
  constexpr T high = sizeof(T) == 4 ? T(0.30102539) : T(3.01029995663611771306e-01);
  constexpr T low = sizeof(T) == 4 ? T(4.6050390e-6) : T(3.69423907715893078616e-13);
  return with_special_cases_of_log(x, l.e * high + (l.e * low + (l.f * c - l.correction * c)));
}
// The rounding error of 1 + x, divided by 1 + x, is added back: exact for small x without a branch.
template <Real T>
HOST_DEVICE inline T log1p(T x) {
  if constexpr (kDeviceCode) return ::log1p(x);
  const T u = T(1) + x;
  const T lost = (u - T(1)) - x;
  const T safe = lost == T(0) ? T(0) : lost / u;
  const T y = log(u) - (x == kInfinity<T> ? T(0) : safe);
  return x == T(0) ? x : y;
}

template <Real T>
HOST_DEVICE inline T sinh(T x) {
  if constexpr (kDeviceCode) return ::sinh(x);
  const T a = abs(x), z = x * x, h = exp_times(a, -1);
  const T small = x + x * z * polynomial<coefficients::Of<T>::sinh>(z);
  const T large = copysign(h - T(0.25) / h, x);
  return a < T(1) ? small : large;
}
template <Real T>
HOST_DEVICE inline T cosh(T x) {
  if constexpr (kDeviceCode) return ::cosh(x);
  const T h = exp_times(abs(x), -1);
  return h + T(0.25) / h;
}
template <Real T>
HOST_DEVICE inline T tanh(T x) {
  if constexpr (kDeviceCode) return ::tanh(x);
  const T a = abs(x), bounded = a > T(20) ? T(20) : a;
  const T t = expm1(T(2) * bounded);
  return copysign(t / (t + T(2)), x);
}
template <Real T>
HOST_DEVICE inline T asinh(T x) {
  const T a = abs(x), inverse = T(1) / a;
  const T far = a + a / (inverse + sqrt(inverse * inverse + T(1)));
  // above half the largest number `far` overflows; there asinh(a) is log(a) + ln(2)
  const bool huge = a > T(0.25) * std::numeric_limits<T>::max();
  const T y = log1p(huge ? a : far) + (huge ? T(0.693147180559945309417) : T(0));
  const T tiny = a < Layout<T>::smallest ? a : y;
  return copysign(tiny, x);
}
template <Real T>
HOST_DEVICE inline T acosh(T x) {
  const T t = x - T(1);
  const bool huge = x > T(0.25) * std::numeric_limits<T>::max();
  const T near = t + sqrt(t) * sqrt(t + T(2));
  return log1p(huge ? x : near) + (huge ? T(0.693147180559945309417) : T(0));
}
template <Real T>
HOST_DEVICE inline T atanh(T x) {
  const T a = abs(x);
  return copysign(T(0.5) * log1p(T(2) * a / (T(1) - a)), x);
}

}  // namespace rushlight
