// The same functions for integers. Every integer dtype computes as int64 and is cut down when
// it is stored, which wraps as the narrow type would. Note: signed overflow and
// division by zero are undefined in C++, so sums go through uint64 and divisors are made safe here;
// that a divisor is zero was already reported before any kernel writes.
#pragma once
#include "real.h"

namespace rushlight {

// An int64 whose arithmetic wraps: what formulas get as T for every integer dtype.
struct Integer {
  std::int64_t v;
  constexpr Integer() = default;
  template <class N>
    requires(std::is_arithmetic_v<N>)
  HOST_DEVICE constexpr Integer(N n) : v(static_cast<std::int64_t>(n)) {}
};
HOST_DEVICE constexpr Integer wrapped(std::uint64_t v) {
  return Integer(static_cast<std::int64_t>(v));
}
HOST_DEVICE constexpr std::uint64_t bits_of(Integer a) { return static_cast<std::uint64_t>(a.v); }

HOST_DEVICE constexpr Integer operator+(Integer a, Integer b) {
  return wrapped(bits_of(a) + bits_of(b));
}
HOST_DEVICE constexpr Integer operator-(Integer a, Integer b) {
  return wrapped(bits_of(a) - bits_of(b));
}
HOST_DEVICE constexpr Integer operator*(Integer a, Integer b) {
  return wrapped(bits_of(a) * bits_of(b));
}
HOST_DEVICE constexpr Integer operator-(Integer a) { return wrapped(0 - bits_of(a)); }
HOST_DEVICE constexpr Integer operator/(Integer a, Integer b) {  // towards zero
  const std::int64_t safe = b.v == 0 || b.v == -1 ? 1 : b.v;
  return b.v == -1 ? -a : Integer(a.v / safe);
}
HOST_DEVICE constexpr bool operator<(Integer a, Integer b) { return a.v < b.v; }
HOST_DEVICE constexpr bool operator>(Integer a, Integer b) { return a.v > b.v; }
HOST_DEVICE constexpr bool operator<=(Integer a, Integer b) { return a.v <= b.v; }
HOST_DEVICE constexpr bool operator>=(Integer a, Integer b) { return a.v >= b.v; }
HOST_DEVICE constexpr bool operator==(Integer a, Integer b) { return a.v == b.v; }
HOST_DEVICE constexpr bool operator!=(Integer a, Integer b) { return a.v != b.v; }
HOST_DEVICE constexpr Integer operator&(Integer a, Integer b) { return Integer(a.v & b.v); }
HOST_DEVICE constexpr Integer operator|(Integer a, Integer b) { return Integer(a.v | b.v); }
HOST_DEVICE constexpr Integer operator^(Integer a, Integer b) { return Integer(a.v ^ b.v); }
HOST_DEVICE constexpr Integer operator~(Integer a) { return Integer(~a.v); }
HOST_DEVICE constexpr Integer operator<<(Integer a, Integer b) {  // out of range: all bits leave
  return bits_of(b) > 63 ? Integer(0) : wrapped(bits_of(a) << (b.v & 63));
}
HOST_DEVICE constexpr Integer operator>>(Integer a, Integer b) {
  return Integer(a.v >> (bits_of(b) > 63 ? 63 : b.v));
}

HOST_DEVICE inline Integer where(bool condition, Integer a, Integer b) { return condition ? a : b; }
HOST_DEVICE inline Integer abs(Integer a) { return a.v < 0 ? -a : a; }
HOST_DEVICE inline Integer floor(Integer a) { return a; }
HOST_DEVICE inline Integer ceil(Integer a) { return a; }
HOST_DEVICE inline Integer trunc(Integer a) { return a; }
HOST_DEVICE inline Integer round(Integer a) { return a; }
HOST_DEVICE inline bool signbit(Integer a) { return a.v < 0; }
HOST_DEVICE inline Integer fmod(Integer a, Integer b) { return a - a / b * b; }
HOST_DEVICE inline Integer remainder(Integer a, Integer b) {
  const Integer r = fmod(a, b);
  return (r.v != 0) & ((r.v < 0) != (b.v < 0)) ? r + b : r;
}
HOST_DEVICE inline Integer floor_divide(Integer a, Integer b) {
  const Integer q = a / b, r = a - q * b;
  return (r.v != 0) & ((r.v < 0) != (b.v < 0)) ? q - Integer(1) : q;
}
HOST_DEVICE inline Integer pow(Integer a, Integer b) {
  if (b.v < 0) {  // as 1 / a^-b rounded towards zero: only 1 and -1 leave something
    const std::int64_t sign = b.v % 2 == 0 ? 1 : -1;
    return a.v == 1 ? Integer(1) : a.v == -1 ? Integer(sign) : Integer(0);
  }
  Integer result(1);
  for (std::uint64_t e = bits_of(b); e; e >>= 1) {
    if (e & 1) result = result * a;
    a = a * a;
  }
  return result;
}

template <Whole U>
HOST_DEVICE inline int trailing_zeros(U v) {
  if constexpr (kDeviceCode)
    return __ffsll(v) - 1;
  else
    return std::countr_zero(v);
}
// Of sizes as unsigned numbers, as the least int64 has none. Two odd numbers have the divisors of
// one of them and of what is odd in their difference: no division, and at most 128 steps.
HOST_DEVICE inline Integer gcd(Integer a, Integer b) {
  std::uint64_t x = bits_of(abs(a)), y = bits_of(abs(b));
  if (x == 0 || y == 0) return wrapped(x | y);
  const int twos = trailing_zeros(x | y);
  x >>= trailing_zeros(x);
  y >>= trailing_zeros(y);
  while (x != y) {
    const std::uint64_t rest = x < y ? y - x : x - y;
    x = x < y ? x : y;
    y = rest >> trailing_zeros(rest);
  }
  return wrapped(x << twos);
}
HOST_DEVICE inline Integer lcm(Integer a, Integer b) {
  const Integer divisor = gcd(a, b);
  return divisor.v == 0 ? divisor : abs(a / divisor * b);
}

}  // namespace rushlight
