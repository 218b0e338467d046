// Vectors of 64 bytes with masks, for processors with AVX-512. Only functions of that target may
// use them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

namespace rushlight {
// Whether this is such a processor, and RUSHLIGHT_ISA does not force a lesser one.
bool uses_wide_vectors();
// The same, and it is not AMD's, whose Zen 4 computes them in halves: for what is slower so there.
bool prefers_wide_vectors();
}  // namespace rushlight

#if defined(__x86_64__)
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
// Rows of the upper half between those of the lower one, for as many vectors as they have lanes.
template <class V, int... j>
[[gnu::always_inline, gnu::target("avx512f")]] inline void zip(V* t,
                                                               std::integer_sequence<int, j...>) {
  constexpr int n = sizeof...(j), half = n / 2;
  V zipped[n];
#pragma GCC unroll 8
  for (int i = 0; i < half; ++i) {
    zipped[2 * i] = __builtin_shufflevector(t[i], t[i + half], (j / 2 + j % 2 * n)...);
    zipped[2 * i + 1] = __builtin_shufflevector(t[i], t[i + half], (half + j / 2 + j % 2 * n)...);
  }
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) t[i] = zipped[i];
}

// Up to kLanes rows, transposed into `depth` rows of which the `stored` lanes are written: whole
// vectors of their columns, zipped until they are rows.
template <class T>
[[gnu::target("avx512f")]] void transpose_lanes(const T* from, std::int64_t ld, std::int64_t rows,
                                                std::int64_t depth, T* to, std::int64_t ldt,
                                                __mmask16 stored) {
  using W = Wide<T>;
  constexpr int n = int(W::kLanes);
  using V = typename W::Vector;
  for (std::int64_t k = 0; k < depth; k += n) {
    const std::int64_t used = std::min<std::int64_t>(n, depth - k);
    V t[n];
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i)
      t[i] = i < rows ? W::load(first_lanes(used), from + i * ld + k) : V{};
#pragma GCC unroll 4
    for (int round = 1; round < n; round *= 2) zip(t, std::make_integer_sequence<int, n>());
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i)
      if (i < used) W::store(to + (k + i) * ldt, stored, t[i]);
  }
}

}  // namespace rushlight
#endif
