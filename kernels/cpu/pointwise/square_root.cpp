// From an estimate of 14 bits, steps of Newton's method on sqrt(x) and 1 / (2 sqrt(x)) together
// (Goldschmidt's form; P. Markstein, IA-64 and Elementary Functions, 2000). The last step adds what
// the square lacks, which a fused multiplication knows exactly. The instruction for it takes
// longer on Intel's processors and on AMD's Zen 4.
#include "square_root.h"

#include "kernels/cpu/wide_vector.h"

namespace rushlight {
#if defined(__x86_64__)
namespace {

// Elements whose exponents keep squares and products of the steps normal numbers lie, by their
// bits, less than `span` above `lowest`; the steps make the estimate's error too small to matter.
// `fused`: a * b + c rounded once, which gcc makes of products and sums only where it optimises.
template <class T>
struct Root;
template <>
struct Root<double> {
  static constexpr int kSteps = 2;
  [[gnu::always_inline, gnu::target("avx512f")]] static inline __mmask16 unusual(__m512d v) {
    const __m512i lowest = _mm512_set1_epi64(std::int64_t(123) << 52);
    const __m512i span = _mm512_set1_epi64(std::int64_t(1800) << 52);
    return _mm512_cmp_epu64_mask(_mm512_sub_epi64(_mm512_castpd_si512(v), lowest), span,
                                 _MM_CMPINT_NLT);
  }
  [[gnu::always_inline, gnu::target("avx512f")]] static inline __m512d estimate(__m512d v) {
    return _mm512_maskz_rsqrt14_pd(0xff, v);
  }
  [[gnu::always_inline, gnu::target("avx512f")]] static inline __m512d exact(__m512d v) {
    return _mm512_maskz_sqrt_pd(0xff, v);
  }
  [[gnu::always_inline, gnu::target("avx512f")]] static inline __m512d fused(__m512d a, __m512d b,
                                                                             __m512d c) {
    return _mm512_fmadd_pd(a, b, c);
  }
};
template <>
struct Root<float> {
  static constexpr int kSteps = 1;
  [[gnu::always_inline, gnu::target("avx512f")]] static inline __mmask16 unusual(__m512 v) {
    const __m512i lowest = _mm512_set1_epi32(27 << 23), span = _mm512_set1_epi32(200 << 23);
    return _mm512_cmp_epu32_mask(_mm512_sub_epi32(_mm512_castps_si512(v), lowest), span,
                                 _MM_CMPINT_NLT);
  }
  [[gnu::always_inline, gnu::target("avx512f")]] static inline __m512 estimate(__m512 v) {
    return _mm512_maskz_rsqrt14_ps(0xffff, v);
  }
  [[gnu::always_inline, gnu::target("avx512f")]] static inline __m512 exact(__m512 v) {
    return _mm512_maskz_sqrt_ps(0xffff, v);
  }
  [[gnu::always_inline, gnu::target("avx512f")]] static inline __m512 fused(__m512 a, __m512 b,
                                                                            __m512 c) {
    return _mm512_fmadd_ps(a, b, c);
  }
};

template <class T>
[[gnu::always_inline, gnu::target("avx512f")]] inline typename Wide<T>::Vector root_of(
    typename Wide<T>::Vector v) {
  using V = typename Wide<T>::Vector;
  const V half = V{} + T(0.5), estimate = Root<T>::estimate(v);
  V root = v * estimate, inverse = half * estimate;
#pragma GCC unroll 2
  for (int step = 0; step < Root<T>::kSteps; ++step) {
    const V lacks = Root<T>::fused(-inverse, root, half);
    root = Root<T>::fused(root, lacks, root);
    inverse = Root<T>::fused(inverse, lacks, inverse);
  }
  return Root<T>::fused(Root<T>::fused(-root, root, v), inverse, root);
}

template <class T>
[[gnu::target("avx512f")]] void roots(std::int64_t n, const T* x, T* y) {
  using W = Wide<T>;
  using V = typename W::Vector;
  constexpr std::int64_t kLanes = W::kLanes;
  constexpr int kTogether = 4;
  std::int64_t i = 0;
  for (; i + kTogether * kLanes <= n; i += kTogether * kLanes) {
    V v[kTogether];
    __mmask16 unusual = 0;
#pragma GCC unroll 4
    for (int k = 0; k < kTogether; ++k) {
      v[k] = W::load(x + i + k * kLanes);
      unusual |= Root<T>::unusual(v[k]);
    }
    if (unusual) {
#pragma GCC unroll 4
      for (int k = 0; k < kTogether; ++k)
        W::store(y + i + k * kLanes, first_lanes(kLanes), Root<T>::exact(v[k]));
      continue;
    }
#pragma GCC unroll 4
    for (int k = 0; k < kTogether; ++k)
      W::store(y + i + k * kLanes, first_lanes(kLanes), root_of<T>(v[k]));
  }
  for (; i < n; i += kLanes) {
    const __mmask16 some = first_lanes(std::min(kLanes, n - i));
    const V v = W::load(some, x + i);
    W::store(y + i, some, Root<T>::unusual(v) & some ? Root<T>::exact(v) : root_of<T>(v));
  }
}

}  // namespace

template <class T>
static bool all_roots(std::int64_t n, const T* x, T* y) {
  if (!uses_wide_vectors()) return false;
  roots(n, x, y);
  return true;
}
#else
template <class T>
static bool all_roots(std::int64_t, const T*, T*) {
  return false;
}
#endif

bool square_roots(std::int64_t n, const double* x, double* y) { return all_roots(n, x, y); }
bool square_roots(std::int64_t n, const float* x, float* y) { return all_roots(n, x, y); }

}  // namespace rushlight
