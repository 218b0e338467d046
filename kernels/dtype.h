// Element types, their sizes, and how an element is read and written. Note: the order of the enum
// is the order of dispatch tables, which have kDTypes entries: the types after those are only
// stored, copied and cast (stored.h); promotion lives in csrc/core/device.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "host_device.h"

namespace rushlight {

enum class DType : std::uint8_t {
  boolean,
  uint8,
  int8,
  int16,
  int32,
  int64,
  float16,
  bfloat16,
  float32,
  float64,
  // only stored:
  float8_e4m3fn,
  float8_e5m2,
  float8_e4m3fnuz,
  float8_e5m2fnuz,
  float8_e8m0fnu,
  float4_e2m1fn_x2,
  uint16,
  uint32,
  uint64,
  complex32,
  complex64,
  complex128
};
inline constexpr int kDTypes = 10;  // those that kernels compute with
inline constexpr int kStoredDTypes = 22;  // all of them
inline constexpr std::size_t kItemSize[kStoredDTypes] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 1,
                                                         1, 1, 1, 1, 1, 2, 4, 8, 4, 8, 16};
inline constexpr std::size_t kMaxItemSize = 16;
constexpr std::size_t item_size(DType d) { return kItemSize[int(d)]; }
constexpr bool is_only_stored(DType d) { return d > DType::float64; }
constexpr bool is_complex(DType d) { return d >= DType::complex32; }
constexpr bool is_floating(DType d) { return d >= DType::float16 && d <= DType::float4_e2m1fn_x2; }
constexpr bool is_computed_floating(DType d) {  // kernels compute with it
  return d >= DType::float16 && d <= DType::float64;
}
constexpr bool is_integral(DType d) {  // bool counts
  return d < DType::float16 || (d >= DType::uint16 && d <= DType::uint64);
}
constexpr bool is_float8(DType d) {
  return d >= DType::float8_e4m3fn && d <= DType::float8_e8m0fnu;
}
constexpr bool is_differentiable(DType d) { return is_floating(d) || is_complex(d); }
constexpr bool is_signed(DType d) {
  return d != DType::boolean && d != DType::uint8 && d != DType::float8_e8m0fnu &&
         !(d >= DType::uint16 && d <= DType::uint64);
}
constexpr bool is_reduced(DType d) { return d == DType::float16 || d == DType::bfloat16; }

// Storage only: formulas see float.
struct bfloat16 {
  std::uint16_t bits;
};
struct float16 {
  std::uint16_t bits;
};

// What a formula computes in when the memory holds S.
template <class S>
struct ComputeType {
  using type = S;
};
template <>
struct ComputeType<bfloat16> {
  using type = float;
};
template <>
struct ComputeType<float16> {
  using type = float;
};
template <class S>
using Compute = typename ComputeType<S>::type;

// Every element passes here. The 16-bit types are read and written as their bits: gcc does not
// vectorise a loop that copies a struct of two bytes (measured: 3.0 instead of 0.3 ns an element).
template <class S>
HOST_DEVICE inline Compute<S> load(const S* p) {
  return *p;
}
HOST_DEVICE inline bool load(
    const bool* p) {  // any non-zero byte is true: NumPy or a file may have written it
  std::uint8_t byte;
  memcpy(&byte, p, 1);
  return byte != 0;
}
HOST_DEVICE inline float load(const bfloat16* p) {
  const std::uint32_t u = std::uint32_t(p->bits) << 16;
  float f;
  memcpy(&f, &u, 4);
  return f;
}
HOST_DEVICE inline float load(const float16* p) {
  // Exponent moved by a multiplication with 2^112, so denormals need no branch; inf and NaN are set
  // apart by one select.
  const std::uint32_t sign = std::uint32_t(p->bits & 0x8000) << 16;
  const std::uint32_t magnitude = std::uint32_t(p->bits & 0x7fff) << 13;
  float f;
  memcpy(&f, &magnitude, 4);
  f *= 5.192296858534828e33f;
  std::uint32_t u;
  memcpy(&u, &f, 4);
  u = (p->bits & 0x7c00) == 0x7c00 ? (magnitude | 0x7f800000u) : u;
  u |= sign;
  memcpy(&f, &u, 4);
  return f;
}
template <class S>
HOST_DEVICE inline void store(S* p, Compute<S> value) {
  *p = value;
}
HOST_DEVICE inline void store(bfloat16* p, float value) {  // round to even; a NaN stays one
  std::uint32_t u;
  memcpy(&u, &value, 4);
  const std::uint32_t rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
  p->bits = std::uint16_t(value != value ? 0x7fc0 : rounded);
}
HOST_DEVICE inline void store(float16* p, float value) {  // round to even; a NaN stays one
  std::uint32_t u;
  memcpy(&u, &value, 4);
  const std::uint32_t sign = u >> 16 & 0x8000, magnitude = u & 0x7fffffff;
  // Normal results: rebias, round on the bits. Below 2^-14: adding 0.5 lets the adder round.
  const std::uint32_t normal = (magnitude - 0x38000000u + 0xfff + (magnitude >> 13 & 1)) >> 13;
  float small;
  memcpy(&small, &magnitude, 4);
  small += 0.5f;
  std::uint32_t denormal;
  memcpy(&denormal, &small, 4);
  denormal -= 0x3f000000u;
  std::uint32_t bits = magnitude < 0x38800000u ? denormal : normal;
  bits = magnitude >= 0x47800000u ? 0x7c00u : bits;
  bits = magnitude > 0x7f800000u ? 0x7e00u : bits;
  p->bits = std::uint16_t(sign | bits);
}

template <class S>  // of 16 bits
HOST_DEVICE inline float rounded_to(float v) {
  S bits;
  store(&bits, v);
  return load(&bits);
}

// v where it lies in [low, high), else low, a NaN too: then its conversion is defined.
template <class From>
HOST_DEVICE inline From within(From v, From low, From high) {
  return v >= low && v < high ? v : low;
}

// The conversion of one element, everywhere. A float that does not fit an integer becomes what it
// does in torch on a processor of x86: the least int32, of which int8 and int16 keep the last bits,
// or the least int64, as for uint8.
template <class To, class From>
HOST_DEVICE inline To convert(From v) {
  if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr auto half = From(9223372036854775808.0);
    if constexpr (sizeof(To) < 8 && std::is_signed_v<To>) {
      constexpr auto limit = From(2147483648.0);
      return static_cast<To>(static_cast<std::int32_t>(within(v, -limit, limit)));
    } else if constexpr (sizeof(To) == 8 && std::is_unsigned_v<To>) {
      if (v >= half && v < 2 * half) return static_cast<To>(v);
      return static_cast<To>(convert<std::int64_t>(v));
    } else {
      return static_cast<To>(static_cast<std::int64_t>(within(v, -half, half)));
    }
  } else {
    return static_cast<To>(v);
  }
}

template <class S>
struct Type {
  using type = S;
};

// Calls f(Type<S>{}) for the C++ type of `d`. The lists of dtypes are here alone, but for that of
// the types that are only stored.
template <class F>
auto dispatch_floating(DType d, F&& f) {
  switch (d) {
    case DType::float16: return f(Type<float16>{});
    case DType::bfloat16: return f(Type<bfloat16>{});
    case DType::float64: return f(Type<double>{});
    default: return f(Type<float>{});
  }
}
template <class F>
auto dispatch_integral(DType d, F&& f) {  // without bool
  switch (d) {
    case DType::uint8: return f(Type<std::uint8_t>{});
    case DType::int8: return f(Type<std::int8_t>{});
    case DType::int16: return f(Type<std::int16_t>{});
    case DType::int32: return f(Type<std::int32_t>{});
    default: return f(Type<std::int64_t>{});
  }
}
template <class F>
auto dispatch_all(DType d, F&& f) {
  if (d == DType::boolean) return f(Type<bool>{});
  if (is_floating(d)) return dispatch_floating(d, f);
  return dispatch_integral(d, f);
}
template <class S>
constexpr DType dtype_of() {  // the inverse
  if (std::is_same_v<S, bool>) return DType::boolean;
  if (std::is_same_v<S, std::uint8_t>) return DType::uint8;
  if (std::is_same_v<S, std::int8_t>) return DType::int8;
  if (std::is_same_v<S, std::int16_t>) return DType::int16;
  if (std::is_same_v<S, std::int32_t>) return DType::int32;
  if (std::is_same_v<S, std::int64_t>) return DType::int64;
  if (std::is_same_v<S, float16>) return DType::float16;
  if (std::is_same_v<S, bfloat16>) return DType::bfloat16;
  return std::is_same_v<S, float> ? DType::float32 : DType::float64;
}
// By item size only: for kernels that move elements and do not look at them.
template <class F>
auto dispatch_size(DType d, F&& f) {
  switch (item_size(d)) {
    case 1: return f(Type<std::uint8_t>{});
    case 2: return f(Type<std::uint16_t>{});
    case 4: return f(Type<std::uint32_t>{});
    default: return f(Type<std::uint64_t>{});
  }
}

}  // namespace rushlight
