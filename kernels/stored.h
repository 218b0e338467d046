// The element types that are only stored, and how an element of any type is cast to any other: by
// way of the widest type of its kind, so that every value of it arrives. Note: float4_e2m1fn_x2,
// two numbers in a byte, has no cast.
#pragma once
#include "view.h"

namespace rushlight {

inline constexpr std::uint32_t kFloatInfinity = 0x7f800000;

HOST_DEVICE inline std::uint32_t bits_of(float f) {
  std::uint32_t u;
  memcpy(&u, &f, 4);
  return u;
}
HOST_DEVICE inline float float_of(std::uint32_t u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}

// Which bits mean "no number": all ones after the sign; those of IEEE 754, which has infinities; or
// the zero with a sign, and nothing else.
enum class NotNumber : std::uint8_t { all_ones, ieee, negative_zero };

template <int kFraction, int kBias, NotNumber kNot>
struct Float8 {
  std::uint8_t bits;
};
using float8_e4m3fn = Float8<3, 7, NotNumber::all_ones>;
using float8_e5m2 = Float8<2, 15, NotNumber::ieee>;
using float8_e4m3fnuz = Float8<3, 8, NotNumber::negative_zero>;
using float8_e5m2fnuz = Float8<2, 16, NotNumber::negative_zero>;
struct float8_e8m0fnu {  // powers of two, no sign and no zero
  std::uint8_t bits;
};
template <class S>
struct Complex {  // in memory as torch, NumPy and C++ have it
  S real, imag;
};

template <int kFraction, int kBias, NotNumber kNot>
struct ComputeType<Float8<kFraction, kBias, kNot>> {
  using type = float;
};
template <>
struct ComputeType<float8_e8m0fnu> {
  using type = float;
};
template <class S>
struct ComputeType<Complex<S>> {
  using type = Complex<Compute<S>>;
};

template <int kFraction, int kBias, NotNumber kNot>
HOST_DEVICE inline float load(const Float8<kFraction, kBias, kNot>* p) {
  const std::uint32_t sign = std::uint32_t(p->bits & 0x80) << 24, magnitude = p->bits & 0x7f;
  constexpr std::uint32_t exponent = 0x7f >> kFraction << kFraction;
  bool special = magnitude == 0x7f;
  if constexpr (kNot == NotNumber::ieee) special = magnitude >= exponent;
  if constexpr (kNot == NotNumber::negative_zero) special = p->bits == 0x80;
  // The exponent is moved by a multiplication, so that denormals need no branch.
  const std::uint32_t moved =
      bits_of(float_of(magnitude << (23 - kFraction)) * float_of(std::uint32_t(254 - kBias) << 23));
  const std::uint32_t fraction =
      kNot == NotNumber::ieee ? (magnitude & ~exponent) << (23 - kFraction) : 0x400000u;
  return float_of(sign | (special ? kFloatInfinity | fraction : moved));
}
HOST_DEVICE inline float load(const float8_e8m0fnu* p) {
  if (p->bits == 0xff) return float_of(kFloatInfinity | 0x400000u);
  return float_of(p->bits ? std::uint32_t(p->bits) << 23 : 0x400000u);
}
template <class S>
HOST_DEVICE inline Complex<Compute<S>> load(const Complex<S>* p) {
  return {load(&p->real), load(&p->imag)};
}

// Rounds to even. What is too large becomes the infinity of the type, or the largest number where
// all ones are the only NaN, or else the NaN.
template <int kFraction, int kBias, NotNumber kNot>
HOST_DEVICE inline void store(Float8<kFraction, kBias, kNot>* p, float value) {
  constexpr int shift = 23 - kFraction;
  constexpr std::uint32_t rebias = std::uint32_t(127 - kBias) << 23;
  constexpr std::uint32_t all_ones = 0x7f >> kFraction << kFraction;  // of the exponent
  constexpr std::uint32_t largest = kNot == NotNumber::all_ones ? 0x7e
                                    : kNot == NotNumber::ieee   ? all_ones - 1
                                                                : 0x7f;
  const std::uint32_t u = bits_of(value), sign = u >> 24 & 0x80, magnitude = u & 0x7fffffff;
  const std::uint32_t normal =
      (magnitude - rebias + ((1u << (shift - 1)) - 1) + (magnitude >> shift & 1)) >> shift;
  // Below the least normal number: adding one whose last bit has the value of ours lets the adder
  // round.
  constexpr std::uint32_t adds = std::uint32_t(151 - kBias - kFraction) << 23;
  const std::uint32_t denormal = bits_of(float_of(magnitude) + float_of(adds)) - adds;
  std::uint32_t bits = magnitude < rebias + (1u << 23) ? denormal : normal;
  if (bits > largest) {
    bits = 0x7f;
    if (magnitude <= kFloatInfinity && kNot == NotNumber::ieee) bits = all_ones;
    if (magnitude <= kFloatInfinity && kNot == NotNumber::all_ones) bits = largest;
    if constexpr (kNot == NotNumber::negative_zero) bits = 0x80;
  }
  if (kNot != NotNumber::negative_zero || bits) bits |= sign;
  p->bits = std::uint8_t(bits);
}
// To the nearest power of two, the larger one of two that are as near; without the sign.
HOST_DEVICE inline void store(float8_e8m0fnu* p, float value) {
  const std::uint32_t u = bits_of(value), exponent = u >> 23 & 0xff, fraction = u & 0x7fffff;
  const bool up = exponent != 0xff && (fraction > 0x400000 || (fraction == 0x400000 && exponent));
  p->bits = std::uint8_t(exponent + up);
}
template <class S>
HOST_DEVICE inline void store(Complex<S>* p, Complex<Compute<S>> value) {
  store(&p->real, value.real);
  store(&p->imag, value.imag);
}

template <class T>
struct IsComplex : std::false_type {};
template <class S>
struct IsComplex<Complex<S>> : std::true_type {};

// convert() for complex numbers too: the imaginary part of what becomes real is dropped, and is 0
// in what was real.
template <class To, class From>
HOST_DEVICE inline To convert_any(From v) {
  if constexpr (IsComplex<From>::value && IsComplex<To>::value) {
    using Part = decltype(To::real);
    return {convert<Part>(v.real), convert<Part>(v.imag)};
  } else if constexpr (IsComplex<From>::value && std::is_same_v<To, bool>) {
    return convert<bool>(v.real) || convert<bool>(v.imag);
  } else if constexpr (IsComplex<From>::value) {
    return convert<To>(v.real);
  } else if constexpr (IsComplex<To>::value) {
    using Part = decltype(To::real);
    return {convert<Part>(v), Part(0)};
  } else {
    return convert<To>(v);
  }
}

// f(Type<S>{}) for the C++ type of any dtype that can be cast.
template <class F>
HOST_DEVICE auto dispatch_stored(DType d, F&& f) {
  switch (d) {
    case DType::boolean: return f(Type<bool>{});
    case DType::uint8: return f(Type<std::uint8_t>{});
    case DType::int8: return f(Type<std::int8_t>{});
    case DType::int16: return f(Type<std::int16_t>{});
    case DType::int32: return f(Type<std::int32_t>{});
    case DType::int64: return f(Type<std::int64_t>{});
    case DType::float16: return f(Type<float16>{});
    case DType::bfloat16: return f(Type<bfloat16>{});
    case DType::float32: return f(Type<float>{});
    case DType::float64: return f(Type<double>{});
    case DType::float8_e4m3fn: return f(Type<float8_e4m3fn>{});
    case DType::float8_e5m2: return f(Type<float8_e5m2>{});
    case DType::float8_e4m3fnuz: return f(Type<float8_e4m3fnuz>{});
    case DType::float8_e5m2fnuz: return f(Type<float8_e5m2fnuz>{});
    case DType::float8_e8m0fnu: return f(Type<float8_e8m0fnu>{});
    case DType::float4_e2m1fn_x2: return f(Type<std::uint8_t>{});  // refused before a kernel
    case DType::uint16: return f(Type<std::uint16_t>{});
    case DType::uint32: return f(Type<std::uint32_t>{});
    case DType::uint64: return f(Type<std::uint64_t>{});
    case DType::complex32: return f(Type<Complex<float16>>{});
    case DType::complex64: return f(Type<Complex<float>>{});
    default: return f(Type<Complex<double>>{});
  }
}

// The functions of dispatch_stored() that read and write an element, as a kernel can call them.
template <class C>
struct ReadStored {
  const void* data;
  std::int64_t at;
  template <class S>
  HOST_DEVICE C operator()(Type<S>) const {
    return convert_any<C>(load(static_cast<const S*>(data) + at));
  }
};
template <class C>
struct WriteStored {
  void* data;
  std::int64_t at;
  C value;
  template <class S>
  HOST_DEVICE void operator()(Type<S>) const {
    store(static_cast<S*>(data) + at, convert_any<Compute<S>>(value));
  }
};

// What every value of S fits.
template <class S>
using Widest = std::conditional_t<
    IsComplex<S>::value, Complex<double>,
    std::conditional_t<std::is_same_v<S, std::uint64_t>, S,
                       std::conditional_t<std::is_integral_v<S>, std::int64_t, double>>>;
// Calls f(Type<Widest<S>>{}) for the type S of `from`.
template <class F>
auto dispatch_widest(DType from, F&& f) {
  if (from == DType::uint64) return f(Type<std::uint64_t>{});
  if (is_complex(from)) return f(Type<Complex<double>>{});
  return is_floating(from) ? f(Type<double>{}) : f(Type<std::int64_t>{});
}

// One element of any dtype, outside a tensor.
struct Element {
  alignas(kMaxItemSize) unsigned char bytes[kMaxItemSize] = {};
  Element() = default;
  Element(Scalar value, DType d) {
    if (value.is_floating())
      dispatch_stored(d, WriteStored<double>{bytes, 0, value.d});
    else
      dispatch_stored(d, WriteStored<std::int64_t>{bytes, 0, value.i});
  }
  template <class C>
  C as(DType d) const {
    return dispatch_stored(d, ReadStored<C>{bytes, 0});
  }
};

struct Bytes16 {
  std::uint64_t halves[2];
};
// By item size, as dispatch_size(), complex128 included: for copies and fills.
template <class F>
auto dispatch_stored_size(DType d, F&& f) {
  return item_size(d) == sizeof(Bytes16) ? f(Type<Bytes16>{}) : dispatch_size(d, f);
}

}  // namespace rushlight
