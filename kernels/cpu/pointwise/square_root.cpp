// From an estimate of 14 bits, two steps of Newton's method on sqrt(x) and 1 / (2 sqrt(x)) together
// (Goldschmidt's form; P. Markstein, IA-64 and Elementary Functions, 2000). The last step adds what
// the square lacks, which a fused multiplication knows exactly. On Intel's processors only: others
// have a quicker instruction.
#include "square_root.h"

#include "kernels/cpu/wide_vector.h"

namespace rushlight {
#if defined(__x86_64__)
namespace {

using W = Wide<double>;

[[gnu::target("avx512f")]] void roots(std::int64_t n, const double* x, double* y) {
  // Exponents of -900 to 900: squares and products of the steps are normal numbers.
  const __m512i lowest = _mm512_set1_epi64(std::int64_t(123) << 52);
  const __m512i span = _mm512_set1_epi64(std::int64_t(1800) << 52);
  const __m512d half = _mm512_set1_pd(0.5);
  for (std::int64_t i = 0; i < n; i += W::kLanes) {
    const auto some = __mmask8(first_lanes(std::min(W::kLanes, n - i)));
    const __m512d v = W::load(some, x + i);
    const __m512i from_lowest = _mm512_sub_epi64(_mm512_castpd_si512(v), lowest);
    const __mmask8 unusual = _mm512_mask_cmp_epu64_mask(some, from_lowest, span, _MM_CMPINT_NLT);
    if (unusual) {
      W::store(y + i, some, _mm512_maskz_sqrt_pd(some, v));
      continue;
    }
    const __m512d estimate = _mm512_maskz_rsqrt14_pd(some, v);
    __m512d root = _mm512_mul_pd(v, estimate), inverse = _mm512_mul_pd(half, estimate);
#pragma GCC unroll 2
    for (int step = 0; step < 2; ++step) {
      const __m512d lacks = _mm512_fnmadd_pd(inverse, root, half);
      root = _mm512_fmadd_pd(root, lacks, root);
      inverse = _mm512_fmadd_pd(inverse, lacks, inverse);
    }
    const __m512d lacks = _mm512_fnmadd_pd(root, root, v);
    W::store(y + i, some, _mm512_fmadd_pd(lacks, inverse, root));
  }
}

}  // namespace

bool square_roots(std::int64_t n, const double* x, double* y) {
  if (!prefers_wide_vectors()) return false;
  roots(n, x, y);
  return true;
}
#else
bool square_roots(std::int64_t, const double*, double*) { return false; }
#endif

}  // namespace rushlight
