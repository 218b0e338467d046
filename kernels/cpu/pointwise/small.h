// Integers of one, two or four bytes in their own width: what a formula gets as T in place of
// an Integer where every operand is of one such type, so that they need no blocks and fill vectors.
// Results are those of int64, cut down.
#pragma once
#include "kernels/pointwise/names.h"
#include "kernels/pointwise/traits.h"

namespace rushlight {

struct Addcmul;
struct Fmax;
struct Fmin;
struct Signbit;

// An M whose arithmetic wraps, or a bool as 0 and 1, whose results are true if not 0.
template <class M, bool kTruth = false>
struct Small {
  M v;
  constexpr Small() = default;
  template <class N>
    requires(std::is_arithmetic_v<N>)
  constexpr Small(N n) : v(kTruth ? n != N(0) : static_cast<M>(n)) {}

  using Wide = std::uint32_t;  // signed overflow is undefined
  using Signless = std::make_unsigned_t<M>;
  static constexpr Wide wide(Small a) { return static_cast<Wide>(a.v); }

  friend Small operator+(Small a, Small b) { return Small(wide(a) + wide(b)); }
  friend Small operator-(Small a, Small b) { return Small(wide(a) - wide(b)); }
  friend Small operator*(Small a, Small b) { return Small(wide(a) * wide(b)); }
  // These two in one expression, in which gcc stays in the width of M; in `Wide` it does not.
  friend Small operator-(Small a) { return Small(static_cast<M>(-static_cast<Signless>(a.v))); }
  friend Small operator~(Small a) { return Small(static_cast<M>(~static_cast<Signless>(a.v))); }
  friend Small operator&(Small a, Small b) { return Small(a.v & b.v); }
  friend Small operator|(Small a, Small b) { return Small(a.v | b.v); }
  friend Small operator^(Small a, Small b) { return Small(a.v ^ b.v); }
  friend bool operator<(Small a, Small b) { return a.v < b.v; }
  friend bool operator>(Small a, Small b) { return a.v > b.v; }
  friend bool operator<=(Small a, Small b) { return a.v <= b.v; }
  friend bool operator>=(Small a, Small b) { return a.v >= b.v; }
  friend bool operator==(Small a, Small b) { return a.v == b.v; }
  friend bool operator!=(Small a, Small b) { return a.v != b.v; }
  friend Small where(bool condition, Small a, Small b) { return condition ? a : b; }

  // A shift by a negative number, or by all bits and more, leaves none; to the right, the sign.
  friend Small operator<<(Small a, Small b) {
    constexpr Wide bits = sizeof(M) * 8;
    const Wide moved = wide(a) << (wide(b) & 31);
    return Small(wide(b) < bits ? moved : Wide(0));
  }
  friend Small operator>>(Small a, Small b) {
    constexpr Wide last = sizeof(M) * 8 - (std::is_signed_v<M> ? 1 : 0);
    const Wide by = wide(b) > last ? last : wide(b);
    return Small(a.v >> by);
  }
  friend Small abs(Small a) { return a.v < 0 ? -a : a; }
  friend Small floor(Small a) { return a; }
  friend Small ceil(Small a) { return a; }
  friend Small trunc(Small a) { return a; }
  friend bool signbit(Small a) { return a.v < 0; }

  // Division by way of floats that hold every quotient exactly enough: no processor divides vectors
  // of integers. That no divisor is zero was checked before.
  using Float = std::conditional_t<sizeof(M) == 4, double, float>;
  friend Small operator/(Small a, Small b) {  // towards zero
    const bool negates = std::is_signed_v<M> & (b.v == M(-1));
    const Float divisor = negates | (b.v == 0) ? Float(1) : Float(b.v);
    const Small quotient(static_cast<std::int32_t>(Float(a.v) / divisor));
    return negates ? -a : quotient;
  }
  friend Small fmod(Small a, Small b) { return a - a / b * b; }
  friend Small remainder(Small a, Small b) {
    const Small r = fmod(a, b);
    return (r.v != 0) & ((r.v < 0) != (b.v < 0)) ? r + b : r;
  }
  friend Small floor_divide(Small a, Small b) {
    const Small q = a / b, r = a - q * b;
    return (r.v != 0) & ((r.v < 0) != (b.v < 0)) ? q - Small(1) : q;
  }
};

// The types, in the order of PointwiseLoops::small and of BlockType.
inline constexpr DType kSmallTypes[] = {DType::uint8, DType::boolean, DType::int8,
                                        DType::int16, DType::int32,   DType::bfloat16};
inline constexpr int kSmall = 6, kBfloat16 = 5;
inline constexpr auto kSmallIndex = [] {  // of a dtype among them, or -1
  std::array<std::int8_t, kStoredDTypes> index{};
  index.fill(-1);
  for (int i = 0; i < kSmall; ++i) index[std::size_t(kSmallTypes[i])] = std::int8_t(i);
  return index;
}();

// What rounding is to integers.
struct Same {
  static constexpr auto signature = "same(input)";
  static constexpr auto takes = Takes::anything;
  static constexpr Saves save = {};
  template <class T>
  static T forward(T x) {
    return x;
  }
};

// The op whose loops an op has for integers.
template <class Op>
struct OfIntegers {
  using type = std::conditional_t<
      is_among<Op>(OpList<Floor, Ceil, Trunc, Round, NanToNum>{}), Same,
      std::conditional_t<std::is_same_v<Op, Fmax>, Maximum,
                         std::conditional_t<std::is_same_v<Op, Fmin>, Minimum, Op>>>;
};

// The ops that have such loops, and those of numbers alone. Numbers and parameters of a call must
// fit the type.
using SmallOps =
    OpList<Neg, Add, Sub, Rsub, Mul, Eq, Ne, Lt, Le, Gt, Ge, LogicalNot, LogicalAnd, LogicalOr,
           LogicalXor, BitwiseNot, BitwiseAnd, BitwiseOr, BitwiseXor, Maximum, Minimum, Clamp,
           ClampMin, ClampMax, ClampScalars, ClampMinOnly, ClampMinScalar, ClampMaxOnly,
           ClampMaxScalar, Where, MaskedFill, Sign, Signbit, Same>;
using SmallScalarOps = OpList<Abs, Hardtanh, Square, Addcmul, DivTrunc, DivFloor, FloorDivide,
                              Remainder, Fmod, LeftShift, RightShift, Relu, Threshold>;

// Those whose results have the same bits whether an integer has a sign: int8 takes the loop of
// uint8.
using SignlessOps =
    OpList<Neg, Add, Sub, Rsub, Mul, Square, Addcmul, Eq, Ne, LogicalNot, LogicalAnd, LogicalOr,
           LogicalXor, BitwiseNot, BitwiseAnd, BitwiseOr, BitwiseXor, Where, MaskedFill>;

inline bool fits_small(const Scalar& s, int type) {
  if (type == kBfloat16) {
    bfloat16 rounded;
    store(&rounded, s.to<float>());
    return double(load(&rounded)) == s.as_double();
  }
  constexpr double low[] = {0, 0, -128, -32768, -2147483648.0};
  constexpr double high[] = {255, 1, 127, 32767, 2147483647};
  const double number = trunc(s.as_double());  // as the loops read it
  return number >= low[type] && number <= high[type];
}

}  // namespace rushlight
