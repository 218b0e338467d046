// The error function, its complement and its inverse, without a branch, for float and double.
#pragma once
#include "exponential.h"

namespace rushlight {

// erf(x) for |x| <= 1
template <Real T>
HOST_DEVICE inline T erf_near(T x) {
  return x + x * polynomial<coefficients::Of<T>::erf>(x * x);
}
// erfc(a) = exp(-a^2) * erfcx(a) for a from 1/2 to where it vanishes. The square is exact in two
// parts, as its rounding error would be one of the exponential's argument, which may be 700.
template <Real T>
HOST_DEVICE inline T erfc_far(T a) {
  using L = Layout<T>;
  const T d = a + T(2.5), q = T(1) / d;
  using C = coefficients::Of<T>;
  constexpr T first = C::erfcx[0];
  const T rest = (q - T(0.1875)) * polynomial<C::erfcx, 1>(q - T(0.1875));
  const T series = first + rest, scaled = q * series;
  const T scaled_low = product_error(q, series, scaled) + q * (rest - (series - first));
  // what q lacks of 1 / (a + 2.5), times the effect that this has on the product
  const T lacks = product_error(-q, d, T(-1)) - q * (a - (d - T(2.5)));
  const T high = upper_half(a), low = (high - a) * (high + a) + (T(1) + T(4.2) * q) * lacks;
  const T square = high * high;
  const T shifted = square * T(-1.44269504088896340736) + L::magic, n = shifted - L::magic;
  const T r = ((-square - n * L::ln2_high) - n * L::ln2_low) + low;
  return scaled_exp<T>(r, integer_of(shifted), scaled, scaled_low);
}

template <Real T>
HOST_DEVICE inline T erf(T x) {
  if constexpr (kDeviceCode) return ::erf(x);
  using L = Layout<T>;
  using C = coefficients::Of<T>;
  constexpr T end = sizeof(T) == 4 ? T(4) : T(6);  // 1, rounded, from here on
  const T a = abs(x), low = a < T(1) ? T(1) : a, bounded = low > end ? end : low;
  // 1 - erfc by way of its logarithm, a polynomial that may lose digits as erfc vanishes
  const T power = -polynomial<C::erf_far>(bounded - T(1));
  const T shifted = power + L::magic, n = shifted - L::magic;
  const T far = T(1) - polynomial<C::power>(power - n) * power_of_two<T>(integer_of(shifted));
  const T near = erf_near(a < T(1) ? x : T(1));
  return a < T(1) ? near : copysign(far, x);
}

template <Real T>
HOST_DEVICE inline T erfc(T x) {
  if constexpr (kDeviceCode) return ::erfc(x);
  constexpr T end = sizeof(T) == 4 ? T(11) : T(27.3);  // 0, rounded, from there on
  const T a = abs(x), bounded = a > end ? end : a;
  const T far = erfc_far(bounded < T(0.5) ? T(0.5) : bounded);
  const T near = T(1) - erf_near(a > T(0.5) ? T(0.5) : x);
  const T above = x < T(0) ? T(2) - far : far;
  return a < T(0.5) ? near : above;
}

// A series in w = -log(1 - x^2), times x, for w below `end`; farther out in the root of w.
template <Real T>
inline constexpr T kErfinvEnd = sizeof(T) == 4 ? T(5) : T(6.25);
template <Real T>
HOST_DEVICE inline T erfinv_scale(T x) {  // w: NaN outside [-1, 1]
  return -log((T(1) - x) * (T(1) + x));
}
template <Real T>
HOST_DEVICE inline T erfinv_near(T x, T w) {
  constexpr T end = kErfinvEnd<T>;
  return x * polynomial<coefficients::Of<T>::erfinv_near>((w > end ? end : w) - end / 2);
}
template <Real T>
HOST_DEVICE inline bool erfinv_is_near(T x) {  // so that w < end
  return abs(x) < (sizeof(T) == 4 ? T(0.996) : T(0.999));
}
template <Real T>
HOST_DEVICE inline T erfinv_of_near(T x) {
  return erfinv_near(x, -log_of(logarithm<true>((T(1) - x) * (T(1) + x))));
}
template <Real T>
HOST_DEVICE inline T erfinv(T x) {
  using C = coefficients::Of<T>;
  constexpr T end = kErfinvEnd<T>;
  const T w = erfinv_scale(x), root = sqrt(w < end ? end : w);
  T far;
  if constexpr (sizeof(T) == 4) {
    far = polynomial<C::erfinv_far>(root - T(3.25));
  } else {
    const T middle = polynomial<C::erfinv_middle>((root > T(4) ? T(4) : root) - T(3.25));
    const T outer = polynomial<C::erfinv_far>((root < T(4) ? T(4) : root) - T(5));
    far = root < T(4) ? middle : outer;
  }
  const T near = erfinv_near(x, w), outside = x * far, y = w < end ? near : outside;
  return w == kInfinity<T> ? x * kInfinity<T> : y;
}

}  // namespace rushlight
