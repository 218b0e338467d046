// Vectors of 64 bytes with masks, for the products that AVX-512 has to itself. Only functions of
// that target may use them.
#pragma once
#if defined(__x86_64__)
#include <cstdint>
#include <immintrin.h>

namespace rushlight {

constexpr __mmask16 first_lanes(std::int64_t n) { return __mmask16((1u << n) - 1); }

template <class T>
struct Wide;
template <>
struct Wide<float> {
  using Vector = __m512;
  static constexpr std::int64_t kLanes = 16;
  [[gnu::always_inline, gnu::target("avx512f")]] static inline Vector load(__mmask16 mask,
                                                                           const float* from) {
    return _mm512_maskz_loadu_ps(mask, from);
  }
  [[gnu::always_inline, gnu::target("avx512f")]] static inline Vector load(const float* from) {
    return _mm512_loadu_ps(from);
  }
  [[gnu::always_inline, gnu::target("avx512f")]] static inline void store(float* to, __mmask16 mask,
                                                                          Vector v) {
    _mm512_mask_storeu_ps(to, mask, v);
  }
};
template <>
struct Wide<double> {
  using Vector = __m512d;
  static constexpr std::int64_t kLanes = 8;
  [[gnu::always_inline, gnu::target("avx512f")]] static inline Vector load(__mmask16 mask,
                                                                           const double* from) {
    return _mm512_maskz_loadu_pd(__mmask8(mask), from);
  }
  [[gnu::always_inline, gnu::target("avx512f")]] static inline Vector load(const double* from) {
    return _mm512_loadu_pd(from);
  }
  [[gnu::always_inline, gnu::target("avx512f")]] static inline void store(double* to,
                                                                          __mmask16 mask,
                                                                          Vector v) {
    _mm512_mask_storeu_pd(to, __mmask8(mask), v);
  }
};
}  // namespace rushlight
#endif
