// Circular functions and their inverses. Note: sin, cos and tan are right up to
// Layout::near_angle only; beyond, the loop that calls them replaces x by equivalent_angle(x) first
// (kernels/cpu/pointwise/loops.h), as one far element would otherwise cost every near one.
#pragma once
#include "real.h"

namespace rushlight {

// An angle in [-pi, pi] with the same sine and cosine.
template <Real T>
HOST_DEVICE inline T equivalent_angle(T x) {
  const double d = static_cast<double>(x);
  return static_cast<T>(std::atan2(std::sin(d), std::cos(d)));
}

// sin and cos of the angle x - n * pi / 2, and n.
template <Real T>
struct Quadrant {
  T sin, cos;
  typename Layout<T>::Int n;
};
template <Real T>
HOST_DEVICE inline Quadrant<T> quadrant(T x) {
  using L = Layout<T>;
  using Int = typename L::Int;
  const T shifted = x * T(0.636619772367581343076) + L::magic, n = shifted - L::magic;
  const T r = ((x - n * L::half_pi[0]) - n * L::half_pi[1]) - n * L::half_pi[2], z = r * r;
  return {r + r * z * polynomial<coefficients::Of<T>::sin>(z),
          T(1) - (T(0.5) * z - z * z * polynomial<coefficients::Of<T>::cos>(z)),
          std::bit_cast<Int>(shifted)};  // its lowest bits are those of n
}
// A value with its sign flipped where bit 1 of `n` is set.
template <Real T>
HOST_DEVICE inline T flip_sign(T value, typename Layout<T>::Int n) {
  using Int = typename Layout<T>::Int;
  constexpr int to_sign = sizeof(T) * 8 - 2;
  return std::bit_cast<T>(std::bit_cast<Int>(value) ^ ((n & 2) << to_sign));
}

// Both, up to Layout::near_angle also on a GPU.
template <Real T>
struct SineAndCosine {
  T sine, cosine;
};
template <Real T>
HOST_DEVICE inline SineAndCosine<T> sine_and_cosine(T x) {
  const Quadrant<T> q = quadrant(x);
  const bool odd = (q.n & 1) != 0;
  return {flip_sign<T>(odd ? q.cos : q.sin, q.n), flip_sign<T>(odd ? q.sin : q.cos, q.n + 1)};
}

template <Real T>
HOST_DEVICE inline T sin(T x) {
  if constexpr (kDeviceCode) return ::sin(x);
  const Quadrant<T> q = quadrant(x);
  const T y = flip_sign<T>((q.n & 1) != 0 ? q.cos : q.sin, q.n);
  return x == T(0) ? x : y;
}
template <Real T>
HOST_DEVICE inline T cos(T x) {
  if constexpr (kDeviceCode) return ::cos(x);
  const Quadrant<T> q = quadrant(x);
  return flip_sign<T>((q.n & 1) != 0 ? q.sin : q.cos, q.n + 1);
}
template <Real T>
HOST_DEVICE inline T tan(T x) {
  if constexpr (kDeviceCode) return ::tan(x);
  const Quadrant<T> q = quadrant(x);
  const bool odd = (q.n & 1) != 0;
  const T y = (odd ? -q.cos : q.sin) / (odd ? q.sin : q.cos);
  return x == T(0) ? x : y;
}

// sin(pi x) / (pi x), and cos(pi x): exact however far out, as whole turns leave x first.
HOST_DEVICE inline double sinc(double x) {
  const double turn = x - 2 * round(x / 2), a = abs(turn), folded = a > 0.5 ? 1 - a : a;
  const double y = copysign(sin(kPi<double> * folded), turn) / (kPi<double> * x);
  return x == 0 ? 1.0 : y;
}
HOST_DEVICE inline double cos_pi(double x) { return cos(kPi<double> * (x - 2 * round(x / 2))); }

template <Real T>
HOST_DEVICE inline T asin_near(T x) {  // |x| <= 1/2
  const T z = x * x;
  return x + x * z * polynomial<coefficients::Of<T>::asin>(z);
}
template <Real T>
HOST_DEVICE inline T asin(T x) {
  if constexpr (kDeviceCode) return ::asin(x);
  const T a = abs(x);
  const bool far = a > T(0.5);
  const T t = asin_near(far ? sqrt((T(1) - a) * T(0.5)) : a);
  return copysign(far ? kPi<T> / 2 - T(2) * t : t, x);
}
template <Real T>
HOST_DEVICE inline T acos(T x) {
  if constexpr (kDeviceCode) return ::acos(x);
  const T a = abs(x);
  const bool far = a > T(0.5);
  const T t = asin_near(far ? sqrt((T(1) - a) * T(0.5)) : x);
  const T near = kPi<T> / 2 - t;
  const T outer = x < T(0) ? kPi<T> - T(2) * t : T(2) * t;
  return far ? outer : near;
}
// The angle whose tangent is a / b, for a, b >= 0: reduced to [-tan(pi/8), tan(pi/8)] with one
// division.
template <Real T>
HOST_DEVICE inline T atan_of_ratio(T a, T b) {
  const bool middle = a > b * T(0.414213562373095048802), high = a > b * T(2.41421356237309504880);
  const T near_top = middle ? a - b : a, near_bottom = middle ? a + b : b;
  const T top = high ? -b : near_top, bottom = high ? a : near_bottom;
  const T start = middle ? kPi<T> / 4 : T(0);
  const T t = bottom == T(0) ? T(0) : top / bottom, z = t * t;
  return (high ? kPi<T> / 2 : start) + (t + t * z * polynomial<coefficients::Of<T>::atan>(z));
}
template <Real T>
HOST_DEVICE inline T atan(T x) {
  if constexpr (kDeviceCode) return ::atan(x);
  const T a = abs(x);
  const T bounded = a > T(1e18) ? T(1e18) : a;
  return copysign(atan_of_ratio(bounded, T(1)), x);
}
template <Real T>
HOST_DEVICE inline T atan2(T y, T x) {
  if constexpr (kDeviceCode) return ::atan2(y, x);
  const T a = abs(y), b = abs(x);
  const bool both_infinite = (a == kInfinity<T>)&(b == kInfinity<T>);
  const T high = a < b ? b : a;
  const T top = both_infinite ? T(1) : a, bottom = both_infinite ? T(1) : b;
  // far apart or huge: scaled, so that sums and products in atan_of_ratio stay finite
  const T scale = high > T(1e18) ? T(1e-19) : T(1);
  const T bounded_top = top * scale > T(1e18) * (bottom * scale) ? T(1e18) : top * scale;
  const T bounded_bottom = top * scale > T(1e18) * (bottom * scale) ? T(1) : bottom * scale;
  const T raw = atan_of_ratio(bounded_top, bounded_bottom);
  const T known = bottom == kInfinity<T> ? T(0) : raw;
  const T angle = signbit(x) ? kPi<T> - known : known;
  const T y_or_nan = copysign(angle, y);
  return (x == x) & (y == y) ? y_or_nan : x + y;
}

}  // namespace rushlight
