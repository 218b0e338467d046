// Numbers whose quotients are small enough to be integers exactly, which makes a remainder one
// division and one multiplication: what fmod, remainder and floor_divide get as T for blocks where
// that holds. libm's exact fmod, for the others, is a loop of its own for each element. Of whole
// numbers that a double holds exactly it is a division of doubles, as no processor divides vectors
// of integers.
#pragma once
#include "kernels/math/integer.h"

namespace rushlight {

template <class T>
struct Near {
  T v;
  constexpr Near() = default;
  constexpr Near(T x) : v(x) {}
  friend Near operator-(Near a) { return -a.v; }
  friend Near operator*(Near a, Near b) { return a.v * b.v; }
};

// Exact below this quotient: of floats in double, where no rounding reaches the next integer;
// of doubles by the sign of the remainder, which shows a quotient rounded up to it.
template <class T>
inline constexpr T kNearQuotient = sizeof(T) == 4 ? T(67108864) : T(2251799813685248);

// A NaN comes of itself where there is one, of an infinite number, and of a division by 0.
template <class T>
CLONES_512 bool all_near(const T* a, const T* b, std::int64_t n) {
  constexpr T infinity = kInfinity<T>;
  int far = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const bool near = abs(a[i] / b[i]) < kNearQuotient<T>;
    const bool gives_nan = !(abs(a[i]) < infinity) | !(abs(b[i]) > T(0));
    far |= (!near & !gives_nan) | (abs(b[i]) == infinity);
  }
  return !far;
}

// An int64 of less than 51 bits, or a quotient of two.
struct NearWhole {
  static constexpr double magic = Layout<double>::magic;  // AVX2 converts no int64
  static constexpr std::int64_t magic_bits = std::bit_cast<std::int64_t>(magic);
  double v;
  NearWhole() = default;
  NearWhole(double x) : v(x) {}
  NearWhole(int n) : v(n) {}
  NearWhole(std::int64_t n) : v(std::bit_cast<double>(n + magic_bits) - magic) {}
  std::int64_t whole() const { return std::bit_cast<std::int64_t>(v + magic) - magic_bits; }

  friend NearWhole operator/(NearWhole a, NearWhole b) { return a.v / b.v; }
  friend NearWhole trunc(NearWhole quotient) { return std::trunc(quotient.v); }
  friend NearWhole fmod(NearWhole a, NearWhole b) { return a.v - std::trunc(a.v / b.v) * b.v; }
  friend NearWhole remainder(NearWhole a, NearWhole b) { return a.v - std::floor(a.v / b.v) * b.v; }
  friend NearWhole floor_divide(NearWhole a, NearWhole b) { return std::floor(a.v / b.v); }
};
inline CLONES_512 bool all_near(const std::int64_t* a, const std::int64_t* b, std::int64_t n) {
  constexpr std::uint64_t half = std::uint64_t(1) << 50;
  std::uint64_t far = 0;
  for (std::int64_t i = 0; i < n; ++i)
    far |= (std::uint64_t(a[i]) + half) | (std::uint64_t(b[i]) + half);
  return far < 2 * half;
}

template <class T>
struct NearOfType {
  using type = Near<T>;
};
template <>
struct NearOfType<Integer> {
  using type = NearWhole;
};
template <class T>
using NearOf = typename NearOfType<T>::type;

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
