// Numbers whose quotients are small enough to be whole numbers exactly, which makes a remainder one
// division and one multiplication: what fmod, remainder and floor_divide get as T for blocks where
// that holds. libm's exact fmod, for the others, is a loop of its own for each element.
#pragma once
#include "kernels/math/integer.h"

namespace rushlight {

template <class T>
struct Near {
  T v;
  constexpr Near() = default;
  constexpr Near(T x) : v(x) {}
};

// Exact below this quotient: of floats in double, where no rounding reaches the next whole number;
// of doubles by the sign of the remainder, which shows a quotient rounded up to it.
template <class T>
inline constexpr T kNearQuotient = sizeof(T) == 4 ? T(67108864) : T(2251799813685248);

template <class T>
CLONES bool all_near(const T* a, const T* b, std::int64_t n) {
  int far = 0;
  for (std::int64_t i = 0; i < n; ++i)
    far |= !(abs(a[i] / b[i]) < kNearQuotient<T>) | !(abs(b[i]) < kInfinity<T>);
  return !far;
}

inline Near<float> fmod(Near<float> a, Near<float> b) {
  const double x = a.v, y = b.v;
  return float(copysign(x - trunc(x / y) * y, x));
}
inline Near<double> fmod(Near<double> a, Near<double> b) {
  const double r = std::fma(-trunc(a.v / b.v), b.v, a.v), y = copysign(b.v, a.v);
  const bool above = (r < 0) != (a.v < 0);
  return copysign(above & (r != 0) ? r + y : r, a.v);
}
template <class T>
inline Near<T> remainder(Near<T> a, Near<T> b) {
  return remainder_from(fmod(a, b).v, b.v);
}
template <class T>
inline Near<T> floor_divide(Near<T> a, Near<T> b) {
  return floor_quotient_from(fmod(a, b).v, a.v, b.v);
}

}  // namespace rushlight
