// Whole numbers of one byte, for the loops of bool and uint8: what a formula gets as T in place of
// an Integer where every operand is of that type, so that masks and images need no blocks.
#pragma once
#include "kernels/pointwise/names.h"
#include "kernels/pointwise/traits.h"

namespace rushlight {

// A uint8 whose arithmetic wraps, or a bool as 0 and 1, whose results are true if not 0.
template <bool kTruth>
struct Small {
  std::uint8_t v;
  constexpr Small() = default;
  template <class N>
    requires(std::is_arithmetic_v<N>)
  constexpr Small(N n) : v(kTruth ? n != N(0) : static_cast<std::uint8_t>(n)) {}

  friend Small operator+(Small a, Small b) { return Small(a.v + b.v); }
  friend Small operator-(Small a, Small b) { return Small(a.v - b.v); }
  friend Small operator*(Small a, Small b) { return Small(a.v * b.v); }
  friend Small operator-(Small a) { return Small(-a.v); }
  friend Small operator&(Small a, Small b) { return Small(a.v & b.v); }
  friend Small operator|(Small a, Small b) { return Small(a.v | b.v); }
  friend Small operator^(Small a, Small b) { return Small(a.v ^ b.v); }
  friend Small operator~(Small a) { return Small(std::uint8_t(~a.v)); }
  friend bool operator<(Small a, Small b) { return a.v < b.v; }
  friend bool operator>(Small a, Small b) { return a.v > b.v; }
  friend bool operator<=(Small a, Small b) { return a.v <= b.v; }
  friend bool operator>=(Small a, Small b) { return a.v >= b.v; }
  friend bool operator==(Small a, Small b) { return a.v == b.v; }
  friend bool operator!=(Small a, Small b) { return a.v != b.v; }
  friend Small where(bool condition, Small a, Small b) { return condition ? a : b; }
};

// The ops that have such loops. Numbers and parameters of a call must fit the type.
using SmallOps = OpList<Neg, Add, Sub, Rsub, Mul, Eq, Ne, Lt, Le, Gt, Ge, LogicalNot, LogicalAnd,
                        LogicalOr, LogicalXor, BitwiseNot, BitwiseAnd, BitwiseOr, BitwiseXor,
                        Maximum, Minimum, Clamp, ClampMin, ClampMax, ClampNumbers, ClampMinOnly,
                        ClampMinNumber, ClampMaxOnly, ClampMaxNumber, Where, MaskedFill>;

inline bool fits_small(const Scalar& s, bool truth) {
  return !s.is_floating() && s.i >= 0 && s.i <= (truth ? 1 : 255);
}

}  // namespace rushlight
