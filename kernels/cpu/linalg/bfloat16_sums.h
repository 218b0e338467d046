// Sums of 32 columns of a product on their way to bfloat16.
#pragma once
#include "kernels/dtype.h"
#include "kernels/host_device.h"
#include "strided_matrix.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rushlight {

// 32 columns of rows whose elements are contiguous.
struct Bfloat16Rows {
  bfloat16* out;
  std::int64_t ld;
  std::uint32_t mask;     // of the columns that exist
  const bfloat16* added;  // or null
  std::int64_t added_ld;
};

// out = alpha * sums + beta * added, rounded; `added` is not read where beta is 0.
struct Bfloat16Output {
  StridedMatrix<bfloat16> out;
  float alpha, beta;
  StridedMatrix<const bfloat16> added;  // `out` itself, or a bias: one row for all

  bool is_plain() const {
    return alpha == 1 && out.col_stride == 1 && (beta == 0 || (beta == 1 && added.col_stride == 1));
  }
  Bfloat16Rows rows(std::int64_t row, std::int64_t column) const;
  // sums[height][32], height <= 16
  void put(const float* sums, std::int64_t row, std::int64_t column, std::int64_t height) const;
};

// out = alpha * sums + beta * out.
inline Bfloat16Output output_of(const StridedMatrix<bfloat16>& out, float alpha = 1,
                                float beta = 0) {
  return {out, alpha, beta, {out.data, out.rows, out.cols, out.row_stride, out.col_stride}};
}
inline Bfloat16Output transposed(const Bfloat16Output& o) {
  return {transposed(o.out), o.alpha, o.beta, transposed(o.added)};
}

#if defined(__x86_64__)
// 16 elements as floats, those of `mask`. Note: gcc 12 warns of the forms without a mask.
[[gnu::always_inline, gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] inline __m512 widened(
    const bfloat16* from, std::uint32_t mask) {
  const __m256i halves = _mm256_maskz_loadu_epi16(__mmask16(mask), from);
  return (__m512)((__v16su)_mm512_maskz_cvtepu16_epi32(0xffff, halves) << 16);
}
[[gnu::always_inline, gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] inline void round_row(
    __m512 low, __m512 high, const Bfloat16Rows& to, std::int64_t row) {
  bfloat16* const out = to.out + row * to.ld;
  if (to.added) {
    const bfloat16* const added = to.added + row * to.added_ld;
    low += widened(added, to.mask);
    if (to.mask >> 16) high += widened(added + 16, to.mask >> 16);
  }
  _mm512_mask_storeu_epi16(out, to.mask, (__m512i)_mm512_cvtne2ps_pbh(high, low));
}
#endif

}  // namespace rushlight
