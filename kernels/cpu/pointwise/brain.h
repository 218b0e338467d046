// bfloat16 as its bits, for ops that round nothing: they only choose, compare or change a sign, so
// that a vector holds as many elements as it can.
#pragma once
#include "kernels/pointwise/names.h"
#include "kernels/pointwise/traits.h"

namespace rushlight {

struct Copysign;

struct Brain {
  std::uint16_t v;
  Brain() = default;
  constexpr Brain(std::uint16_t bits) : v(bits) {}
  template <class N>
    requires(std::is_arithmetic_v<N> && !std::is_same_v<N, std::uint16_t>)
  constexpr Brain(N n)  // a number that has no more bits
      : v(std::uint16_t(std::bit_cast<std::uint32_t>(float(n)) >> 16)) {}
  float value() const { return std::bit_cast<float>(std::uint32_t(v) << 16); }

  friend Brain operator-(Brain a) { return Brain(std::uint16_t(a.v ^ 0x8000)); }
  friend Brain abs(Brain a) { return Brain(std::uint16_t(a.v & 0x7fff)); }
  friend Brain copysign(Brain a, Brain b) {
    return Brain(std::uint16_t((a.v & 0x7fff) | (b.v & 0x8000)));
  }
  friend bool operator<(Brain a, Brain b) { return a.value() < b.value(); }
  friend bool operator>(Brain a, Brain b) { return a.value() > b.value(); }
  friend bool operator==(Brain a, Brain b) { return a.value() == b.value(); }
  friend Brain where(bool condition, Brain a, Brain b) { return condition ? a : b; }
};

using BrainOps = OpList<Neg, Abs, Copysign, Relu, Maximum, Minimum, Where, MaskedFill>;
// Light ones that do round: their loops read and write bfloat16, whose conversions cost more than
// they do.
using RoundedBrainOps = OpList<Reciprocal, Square, Sqrt, Add, Sub, Mul, Div, Lerp, Hardswish>;

}  // namespace rushlight
