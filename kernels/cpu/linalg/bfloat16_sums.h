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

using Bfloat16Output = ProductOutput<bfloat16, float>;  // rounded

// Whether sums need but to be added and rounded, in rows whose elements are contiguous.
inline bool is_plain(const Bfloat16Output& o) {
  return o.alpha == 1 && o.out.col_stride == 1 &&
         (o.beta == 0 || (o.beta == 1 && o.added.col_stride == 1));
}
Bfloat16Rows rows_of(const Bfloat16Output& output, std::int64_t row, std::int64_t column);
// sums[height][32], height <= 16
void put_sums(const float* sums, const Bfloat16Output& output, std::int64_t row,
              std::int64_t column, std::int64_t height);

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
