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

// p * 2^k. Two steps: 2^k itself may be out of range.
template <Real T>
HOST_DEVICE inline T scaled(T p, typename Layout<T>::Int k) {
  const auto half = k >> 1;
  return p * power_of_two<T>(half) * power_of_two<T>(k - half);
}

// exp(r) - 1 for |r| <= ln(2) / 2.
template <Real T>
HOST_DEVICE inline T near_expm1(T r) {
  return r + r * r * polynomial<coefficients::Of<T>::exp>(r);
}

// (factor + low) * exp(r) * 2^k for |r| <= ln(2) / 2 and a low that is nearly nothing.
template <Real T>
HOST_DEVICE inline T scaled_exp(T r, typename Layout<T>::Int k, T factor, T low) {
  return scaled(factor + (factor * near_expm1(r) + low), k);
}
template <Real T>
HOST_DEVICE inline T scaled_exp(T r, typename Layout<T>::Int k) {
  return scaled(T(1) + near_expm1(r), k);
}

// x = n * ln(2) + r with |r| <= ln(2) / 2; n is the integer in `shifted`.
template <Real T>
struct Reduced {
  T r, shifted;
};
template <Real T>
HOST_DEVICE inline Reduced<T> reduced(T x) {
  using L = Layout<T>;
  const T shifted = x * T(1.44269504088896340736) + L::magic, n = shifted - L::magic;
  return {(x - n * L::ln2_high) - n * L::ln2_low, shifted};
}

// exp(x) * 2^shift, for a small constant shift.
template <Real T>
HOST_DEVICE inline T exp_times(T x, typename Layout<T>::Int shift) {
  using L = Layout<T>;
  x = x > L::exp_high ? L::exp_high : x;  // a NaN fails both tests and passes through
  x = x < L::exp_low ? L::exp_low : x;
  const Reduced<T> y = reduced(x);
  return scaled_exp<T>(y.r, integer_of(y.shifted) + shift);
}

// exp(x) for |x| <= exp_usual: neither x nor the result's exponent leaves its range. The integer in
// `shifted` is added to the exponent; of the rest of its bits the shift leaves nothing. Elements
// outside, whose results are thrown away, may wrap.
template <Real T>
HOST_DEVICE inline T usual_exp(T x) {
  using Bits = std::make_unsigned_t<typename Layout<T>::Int>;
  const Reduced<T> y = reduced(x);
  const T p = T(1) + near_expm1(y.r);
  return std::bit_cast<T>(
      Bits(std::bit_cast<Bits>(p) + (std::bit_cast<Bits>(y.shifted) << Layout<T>::mantissa)));
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
  const Reduced<T> reduction = reduced(z);
  const T p = near_expm1(reduction.r);
  // half of it first: 2^k may be just out of range where the result is not
  const T half = power_of_two<T>(integer_of(reduction.shifted) - 1);
  const T y = T(2) * (half * p + (half - T(0.5)));
  return x * x == T(0) ? x : y;  // also where half * p would lose bits to underflow
}

// x = 2^e * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); log(1 + f) = f - correction.
template <Real T>
struct Logarithm {
  T e, f, correction;
};
template <bool kUsual = false, Real T>  // kUsual: x is positive, normal and finite
HOST_DEVICE inline Logarithm<T> logarithm(T x) {
  using L = Layout<T>;
  using Int = typename L::Int;
  using Bits = std::make_unsigned_t<Int>;  // those of negative numbers may wrap
  const bool tiny = !kUsual && x < L::smallest;
  const T normal = tiny ? x * L::to_normal : x;
  const Bits bits = std::bit_cast<Bits>(normal);
  const Int k = Int(bits - Bits(L::sqrt_half)) >> L::mantissa;
  const T f = std::bit_cast<T>(bits - Bits(k << L::mantissa)) - T(1);
  T correction;
  if constexpr (sizeof(T) == sizeof(float)) {  // a few terms more take less time than a division
    const T z = f * f;
    correction =
        rounded_product(T(0.5), z) - z * f * polynomial<coefficients::Of<T>::log_divided>(f);
  } else {
    const T s = f / (T(2) + f), z = s * s, half_square = rounded_product(T(0.5) * f, f);
    const T rest = z * polynomial<coefficients::Of<T>::log>(z);
    correction = half_square - s * (half_square + rest);
  }
  // k as a T by way of the magic number: AVX2 has no conversion from int64
  const T e = std::bit_cast<T>(std::bit_cast<Int>(L::magic) + k) - L::magic;
  return {tiny ? e - T(L::mantissa) : e, f, correction};
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
HOST_DEVICE inline T log_of(Logarithm<T> l) {
  const T low = l.e * Layout<T>::ln2_low;
  return l.e * Layout<T>::ln2_high + (l.f - (l.correction - low));
}
template <Real T>
HOST_DEVICE inline T log2_of(Logarithm<T> l) {
  const T c = T(1.44269504088896340736);
  return l.e + (rounded_product(l.f, c) - l.correction * c);
}
template <Real T>
HOST_DEVICE inline T log10_of(Logarithm<T> l) {
  const T c = T(0.434294481903251827651);
  constexpr T high = sizeof(T) == 4 ? T(0.30102539) : T(3.01029995663611771306e-01);
  constexpr T low = sizeof(T) == 4 ? T(4.6050390e-6) : T(3.69423907715893078616e-13);
  return l.e * high + (l.e * low + (rounded_product(l.f, c) - l.correction * c));
}
template <Real T>
HOST_DEVICE inline T log(T x) {
  if constexpr (kDeviceCode) return ::log(x);
  return with_special_cases_of_log(x, log_of(logarithm(x)));
}
template <Real T>
HOST_DEVICE inline T log2(T x) {
  if constexpr (kDeviceCode) return ::log2(x);
  return with_special_cases_of_log(x, log2_of(logarithm(x)));
}
template <Real T>
HOST_DEVICE inline T log10(T x) {
  if constexpr (kDeviceCode) return ::log10(x);
  return with_special_cases_of_log(x, log10_of(logarithm(x)));
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
  // expm1(2 a) as above; its exponent is small, and not below 0
  const Reduced<T> y = reduced(T(2) * bounded);
  const T scale = power_of_two<T>(integer_of(y.shifted));
  const T t = scale * near_expm1(y.r) + (scale - T(1));
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
