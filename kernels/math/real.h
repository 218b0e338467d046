// What the other files of kernels/math share: the layout of a float and a double, polynomials, and
// the functions that are one instruction. Note: these texts are vectorised by gcc
// inside the loops of kernels/cpu, which it does only while they stay free of branches: `?:` on two
// computed values is a select, `&&` and a chain of tests are not.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>

#include "../host_device.h"
#include "coefficients.h"

namespace rushlight {

template <class T>
concept Real = std::is_floating_point_v<T>;
template <class T>
concept Whole = std::is_integral_v<T>;

template <class T>
struct Layout;
template <>
struct Layout<float> {
  using Int = std::int32_t;
  static constexpr int mantissa = 23, bias = 127;
  static constexpr float magic = 12582912.f;  // 1.5 * 2^23: adding it rounds to an integer
  static constexpr float exp_low = -104.f, exp_high = 91.f, exp_usual = 86.f;
  static constexpr float ln2_high = 0.693145752f, ln2_low = 1.42860677e-6f;
  static constexpr float smallest = 1.17549435e-38f, to_normal = 8388608.f;  // 2^23
  static constexpr Int sqrt_half = 0x3f3504f3;
  // pi / 2 in three parts, the first two short, so that a small integer times each is exact
  static constexpr float half_pi[] = {1.5703125f, 4.837512969970703125e-4f,
                                      7.54978995489188216e-8f};
  static constexpr float near_angle = 8192;  // up to here that is enough
  static constexpr Int upper_half = ~0xfff;  // a mask of bits whose square is exact
};
template <>
struct Layout<double> {
  using Int = std::int64_t;
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr double magic = 6755399441055744.;  // 1.5 * 2^52
  static constexpr double exp_low = -746, exp_high = 712, exp_usual = 707;
  static constexpr double ln2_high = 6.93147180369123816490e-01,
                          ln2_low = 1.90821492927058770002e-10;
  static constexpr double smallest = 2.2250738585072014e-308, to_normal = 4503599627370496.;
  static constexpr Int sqrt_half = 0x3fe6a09e667f3bcd;
  static constexpr double half_pi[] = {1.57079632673412561417e+00, 6.07710050630396597660e-11,
                                       2.02226624879595063154e-21};
  static constexpr double near_angle = 1e6;
  static constexpr Int upper_half = ~0x7ffffff;
};

template <Real T>
inline constexpr T kPi = T(3.14159265358979323846L);
template <Real T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <Real T>
inline constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

// `?:` cannot be overloaded for tensors, hence where(). Both sides are always evaluated.
template <class T>
  requires(std::is_arithmetic_v<T>)
HOST_DEVICE inline T where(bool condition, T a, T b) {
  return condition ? a : b;
}

// c[I] + c[I + kStep] z + c[I + 2 kStep] z^2 ...; unrolled by the template, as a loop would keep
// gcc from vectorising the loop around it.
template <const auto& c, std::size_t I, std::size_t kStep, class T>
HOST_DEVICE inline T powers(T z) {
  constexpr T term = c[I];  // a constant, as device code cannot read a host array
  if constexpr (I + kStep >= std::size(c))
    return term;
  else
    return term + z * powers<c, I + kStep, kStep>(z);
}
// c[I] + c[I + 1] z + c[I + 2] z^2 ... Long ones in two halves, of the even and the odd powers: a
// processor starts the next step of a chain four cycles later, and holds few chains at once. The
// first term is added last, as it is in the others: its rounding counts most.
template <const auto& c, std::size_t I = 0, class T>
HOST_DEVICE inline T polynomial(T z) {
  constexpr std::size_t kLong = 10;
  if constexpr (I + kLong > std::size(c)) {
    return powers<c, I, 1>(z);
  } else {
    constexpr T first = c[I];
    const T square = z * z;
    return first + z * (powers<c, I + 1, 2>(square) + z * powers<c, I + 2, 2>(square));
  }
}

template <Real T>
HOST_DEVICE inline T upper_half(T x) {
  return std::bit_cast<T>(std::bit_cast<typename Layout<T>::Int>(x) & Layout<T>::upper_half);
}
// a b - p for p = a b, rounded: exact, and without std::fma, which is a slow call on old
// processors.
template <Real T>
HOST_DEVICE inline T product_error(T a, T b, T p) {
  const T a_high = upper_half(a), a_low = a - a_high;
  const T b_high = upper_half(b), b_low = b - b_high;
  return ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low;
}
// a b, rounded whatever it is added to: of a b + c d a compiler fuses either product, and not the
// same one in every loop. Adding 0 costs nothing where there is a fused instruction.
template <Real T>
HOST_DEVICE inline T rounded_product(T a, T b) {
  return a * b + T(0);
}
template <Real T>
HOST_DEVICE inline T sqrt(T x) {
  return std::sqrt(x);
}
template <Real T>
HOST_DEVICE inline T abs(T x) {
  return std::fabs(x);
}
template <Real T>
HOST_DEVICE inline T copysign(T magnitude, T sign) {
  return std::copysign(magnitude, sign);
}
// Without their sign the bits of numbers are in the order of their sizes.
template <Real T>
HOST_DEVICE inline T nextafter(T x, T to) {
  using Bits = std::make_unsigned_t<typename Layout<T>::Int>;  // those of -0 may wrap
  const Bits step = (x < to) == (x > T(0)) ? Bits(1) : Bits(-1);
  const T near_zero = std::copysign(std::numeric_limits<T>::denorm_min(), to);
  const T next = x == T(0) ? near_zero : std::bit_cast<T>(Bits(std::bit_cast<Bits>(x) + step));
  const T y = x == to ? to : next;
  return (x == x) & (to == to) ? y : x + to;
}
// x = fraction * 2^exponent with a fraction in [0.5, 1); of 0 and of what is not finite, itself
// and 0.
struct BinaryParts {
  double fraction, exponent;
};
HOST_DEVICE inline BinaryParts binary_parts(double x) {
  using L = Layout<double>;
  using Bits = std::uint64_t;
  const bool tiny = abs(x) < L::smallest;
  const Bits bits = std::bit_cast<Bits>(tiny ? x * L::to_normal : x);
  const Bits field = bits >> L::mantissa & 0x7ff;
  // as a double by way of the magic number: AVX2 has no conversion from int64
  const double e = std::bit_cast<double>(std::bit_cast<Bits>(L::magic) + field) - L::magic;
  const double exponent = e - (tiny ? L::bias - 1 + L::mantissa : L::bias - 1);
  const double fraction = std::bit_cast<double>((bits & ~(Bits(0x7ff) << L::mantissa)) |
                                                Bits(L::bias - 1) << L::mantissa);
  const bool is_usual = (x != 0) & (abs(x) < kInfinity<double>);
  return {is_usual ? fraction : x, is_usual ? exponent : 0};
}
HOST_DEVICE inline double binary_exponent(double x) { return binary_parts(x).exponent; }
HOST_DEVICE inline double binary_fraction(double x) { return binary_parts(x).fraction; }
// nextafter among the numbers of bfloat16, or of float16; exact, as a double holds them all.
HOST_DEVICE inline double next_reduced(double x, double to, bool is_bfloat16) {
  if (!(x != to)) return to;
  if (x != x || to != to) return x + to;
  const int digits = is_bfloat16 ? 7 : 10, lowest = is_bfloat16 ? -126 : -14;
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);  // in [0.5, 1)
  const bool shrinks = (to < x) == (x > 0) && x != 0;
  // below a power of two the numbers lie twice as dense
  exponent -= shrinks && std::fabs(fraction) == 0.5 ? 2 : 1;
  if (x == 0 || exponent < lowest) exponent = lowest;
  if (std::fabs(x) == kInfinity<double>)
    return std::copysign(is_bfloat16 ? 3.3895313892515355e38 : 65504, x);
  const double next = x + std::copysign(std::ldexp(1.0, exponent - digits), to - x);
  return next == 0 ? std::copysign(0.0, x) : next;
}
template <Real T>
HOST_DEVICE inline T floor(T x) {
  return std::floor(x);
}
template <Real T>
HOST_DEVICE inline T ceil(T x) {
  return std::ceil(x);
}
template <Real T>
HOST_DEVICE inline T trunc(T x) {
  return std::trunc(x);
}
template <Real T>
HOST_DEVICE inline T round(T x) {  // halves to even, as Python's round
  return std::nearbyint(x);
}
template <Real T>
HOST_DEVICE inline bool signbit(T x) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  return std::bit_cast<Bits>(x) < 0;
}
template <Real T>
HOST_DEVICE inline T fmod(T a, T b) {
  return std::fmod(a, b);
}
// The remainder with the sign of the divisor, as Python's %, and the quotient rounded down, as
// Python's //; from the exact remainder r = fmod(a, b), so that 1 // 0.1 is 9.
template <Real T>
HOST_DEVICE inline T remainder_from(T r, T b) {
  const bool moves = (r != T(0)) & ((r < T(0)) != (b < T(0)));
  return moves ? r + b : r;
}
template <Real T>
HOST_DEVICE inline T floor_quotient_from(T r, T a, T b) {
  const bool moves = (r != T(0)) & ((r < T(0)) != (b < T(0)));
  const T quotient = (a - r) / b - (moves ? T(1) : T(0));
  const T down = std::floor(quotient);
  const T nearest = quotient - down > T(0.5) ? down + T(1) : down;
  const T result = quotient == T(0) ? std::copysign(T(0), a / b) : nearest;
  return b == T(0) ? a / b : result;
}
template <Real T>
HOST_DEVICE inline T remainder(T a, T b) {
  return remainder_from(std::fmod(a, b), b);
}
template <Real T>
HOST_DEVICE inline T floor_divide(T a, T b) {
  return floor_quotient_from(std::fmod(a, b), a, b);
}
template <Real T>
HOST_DEVICE inline T hypot(T a, T b) {  // scaled, so that squares cannot overflow
  const T x = std::fabs(a), y = std::fabs(b);
  const T high = x < y ? y : x, low = x < y ? x : y;
  const T ratio = high == T(0) ? low : low / high;
  const T r = high * std::sqrt(T(1) + ratio * ratio);
  return (x == kInfinity<T>) | (y == kInfinity<T>) ? kInfinity<T> : r;
}

}  // namespace rushlight
