// bfloat16 as its bits, for ops that round nothing: they only choose, compare or change a sign, so
// that a vector holds as many elements as it can.
#pragma once
#include "kernels/pointwise/names.h"
#include "kernels/pointwise/traits.h"

namespace rushlight {

struct Addcmul;
struct Copysign;

struct Bfloat16Bits {
  std::uint16_t v;
  Bfloat16Bits() = default;
  constexpr Bfloat16Bits(std::uint16_t bits) : v(bits) {}
  template <class N>
    requires(std::is_arithmetic_v<N> && !std::is_same_v<N, std::uint16_t>)
  constexpr Bfloat16Bits(N n)  // a constant that bfloat16 holds exactly
      : v(std::uint16_t(std::bit_cast<std::uint32_t>(float(n)) >> 16)) {}
  float value() const { return std::bit_cast<float>(std::uint32_t(v) << 16); }

  friend Bfloat16Bits operator-(Bfloat16Bits a) {
    return Bfloat16Bits(std::uint16_t(a.v ^ 0x8000));
  }
  friend Bfloat16Bits abs(Bfloat16Bits a) { return Bfloat16Bits(std::uint16_t(a.v & 0x7fff)); }
  friend Bfloat16Bits copysign(Bfloat16Bits a, Bfloat16Bits b) {
    return Bfloat16Bits(std::uint16_t((a.v & 0x7fff) | (b.v & 0x8000)));
  }
  friend bool operator<(Bfloat16Bits a, Bfloat16Bits b) { return a.value() < b.value(); }
  friend bool operator>(Bfloat16Bits a, Bfloat16Bits b) { return a.value() > b.value(); }
  friend bool operator==(Bfloat16Bits a, Bfloat16Bits b) { return a.value() == b.value(); }
  friend Bfloat16Bits where(bool condition, Bfloat16Bits a, Bfloat16Bits b) {
    return condition ? a : b;
  }
};

using Bfloat16BitsOps = OpList<Neg, Abs, Copysign, Relu, Maximum, Minimum, Where, MaskedFill>;
// Those that change nothing but the sign, which lies in one bit of float16 and of bfloat16.
using SignBitOps = OpList<Neg, Abs, Copysign>;
// Light ones that are computed in float and rounded: their loops read and write bfloat16, whose
// conversions cost more than they do.
using RoundedBfloat16Ops = OpList<Reciprocal, Square, Sqrt, Rsqrt, Add, Sub, Rsub, Mul, Div, Lerp,
                                  Clamp, ClampMin, ClampMax, LeakyRelu, Hardtanh, Hardsigmoid,
                                  Hardswish, Addcmul, Floor, Ceil, Trunc, Round>;
using RoundedBfloat16Gradients =
    OpList<Relu, Square, Sqrt, Mul, Div, Lerp, Clamp, ClampMin, ClampMax, LeakyRelu, Hardtanh,
           Hardsigmoid, Hardswish, Addcmul>;

}  // namespace rushlight
