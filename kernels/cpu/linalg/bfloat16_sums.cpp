// Sums are rounded sixteen at once where rows take them as they are, else scaled in plain loops.
#include "bfloat16_sums.h"

#include <algorithm>

#include "bfloat16_panels.h"
#include "kernels/cpu/transpose.h"

namespace rushlight {

namespace {

using Index = std::int64_t;
constexpr Index kHighest = 16;

#if defined(__x86_64__)
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void round_rows(const float* sums,
                                                                        Index height,
                                                                        const Bfloat16Rows& to) {
  for (Index r = 0; r < height; ++r, sums += kPairColumns)
    round_row(_mm512_loadu_ps(sums), _mm512_loadu_ps(sums + 16), to, r);
}

#endif

// A row of sums, finished and rounded.
CLONES_512 void finish(const float* sums, Index n, float alpha, float beta, const bfloat16* added,
                       Index added_stride, bfloat16* out, Index stride) {
  if (stride == 1 && beta == 0)
    for (Index j = 0; j < n; ++j) store(out + j, alpha * sums[j]);
  else if (beta == 0)
    for (Index j = 0; j < n; ++j) store(out + j * stride, alpha * sums[j]);
  else
    for (Index j = 0; j < n; ++j)
      store(out + j * stride, alpha * sums[j] + beta * load(added + j * added_stride));
}

}  // namespace

Bfloat16Rows rows_of(const Bfloat16Output& output, Index row, Index column) {
  const auto& [out, alpha, beta, added] = output;
  const Index columns = std::min(kPairColumns, out.cols - column);
  return {out.data + row * out.row_stride + column * out.col_stride, out.row_stride,
          std::uint32_t((std::uint64_t(1) << columns) - 1),
          beta == 0 ? nullptr : added.data + row * added.row_stride + column * added.col_stride,
          added.row_stride};
}

void put_sums(const float* sums, const Bfloat16Output& output, Index row, Index column,
              Index height) {
  const auto& [out, alpha, beta, added] = output;
  const Bfloat16Rows to = rows_of(output, row, column);
#if defined(__x86_64__)
  if (is_plain(output)) return round_rows(sums, height, to);
#endif
  const Index columns = std::min(kPairColumns, out.cols - column);
  if (out.row_stride != 1 || out.col_stride == 1) {
    for (Index h = 0; h < height; ++h)
      finish(sums + h * kPairColumns, columns, alpha, beta,
             to.added ? to.added + h * added.row_stride : nullptr, added.col_stride,
             to.out + h * out.row_stride, out.col_stride);
    return;
  }
  float transposed[kPairColumns * kHighest];
  transpose(sums, kPairColumns, height, columns, transposed, kHighest);
  for (Index c = 0; c < columns; ++c)
    finish(transposed + c * kHighest, height, alpha, beta,
           to.added ? to.added + c * added.col_stride : nullptr, added.row_stride,
           to.out + c * out.col_stride, 1);
}

}  // namespace rushlight
