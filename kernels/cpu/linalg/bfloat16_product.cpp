// `right` is packed as [panel][pair of rows][32 columns][2], `left` as rows of pairs; a tile of 12
// rows and 32 columns stays in registers over the whole depth. Note: as in PyTorch on such
// processors, the instructions take denormal numbers as 0.
#include "bfloat16_product.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/transpose.h"
#include "kernels/parallel.h"
#include "register_tile.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rushlight {

#if defined(__x86_64__)
namespace {

using Index = std::int64_t;
using Pair = std::uint32_t;  // two neighbours along the depth, the first in the low half
using Source = Strided<const bfloat16>;
constexpr Index kColumns = 32, kRows = 12;
constexpr Index kTaskProducts = 100'000'000;  // so that Ctrl-C is answered

Pair pair_of(const Source& m, Index row, Index pair) {  // along a row
  const bfloat16* first = m.data + row * m.row_stride + 2 * pair * m.col_stride;
  return first->bits | (2 * pair + 1 < m.cols ? Pair(first[m.col_stride].bits) << 16 : 0);
}
void pack_row(const Source& m, Index row, Index pairs, Pair* to) {
  if (m.col_stride == 1) {
    to[pairs - 1] = 0;
    std::memcpy(to, m.data + row * m.row_stride, std::size_t(m.cols) * sizeof(bfloat16));
  } else {
    for (Index p = 0; p < pairs; ++p) to[p] = pair_of(m, row, p);
  }
}

// Columns [first, first + 32) of `right`, whose transposed is `turned`; zeros beyond its edge.
void pack_panel(const Source& turned, Index first, Index pairs, Pair* to) {
  const Index used = std::min(kColumns, turned.rows - first);
  if (used < kColumns) std::fill_n(to, pairs * kColumns, Pair(0));
  if (turned.row_stride == 1) {  // the columns lie side by side
    for (Index p = 0; p < pairs; ++p) {
      const bfloat16* low = turned.data + first + 2 * p * turned.col_stride;
      const bfloat16* high = low + turned.col_stride;
      Pair* const d = to + p * kColumns;
      if (2 * p + 1 < turned.cols)
        for (Index c = 0; c < used; ++c) d[c] = low[c].bits | Pair(high[c].bits) << 16;
      else
        for (Index c = 0; c < used; ++c) d[c] = low[c].bits;
    }
    return;
  }
  Scratch<Pair> rows(std::size_t(used * pairs));
  for (Index c = 0; c < used; ++c) pack_row(turned, first + c, pairs, rows.data() + c * pairs);
  transpose(rows.data(), pairs, used, pairs, to, kColumns);
}

// sums[row][32] of R rows of pairs, `step` from row to row
template <int R>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void tile(const Pair* left, Index step,
                                                                  const Pair* panel, Index pairs,
                                                                  float* sums) {
  __m512 acc[R][2];
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) acc[r][0] = acc[r][1] = _mm512_setzero_ps();
  for (Index p = 0; p < pairs; ++p, panel += kColumns) {
    const auto low = (__m512bh)_mm512_loadu_si512(panel);
    const auto high = (__m512bh)_mm512_loadu_si512(panel + 16);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
      const auto a = (__m512bh)_mm512_set1_epi32(int(left[r * step + p]));
      acc[r][0] = _mm512_dpbf16_ps(acc[r][0], a, low);
      acc[r][1] = _mm512_dpbf16_ps(acc[r][1], a, high);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) {
    _mm512_storeu_ps(sums + r * kColumns, acc[r][0]);
    _mm512_storeu_ps(sums + r * kColumns + 16, acc[r][1]);
  }
}
using Tile = void (*)(const Pair*, Index, const Pair*, Index, float*);
constexpr Tile kTiles[] = {tile<1>, tile<2>, tile<3>, tile<4>,  tile<5>,  tile<6>,
                           tile<7>, tile<8>, tile<9>, tile<10>, tile<11>, tile<12>};

// A row of sums, finished and rounded.
CLONES void finish(const float* sums, Index n, float alpha, float beta, bfloat16* out,
                   Index stride) {
  if (stride == 1 && beta == 0)
    for (Index j = 0; j < n; ++j) store(out + j, alpha * sums[j]);
  else if (beta == 0)
    for (Index j = 0; j < n; ++j) store(out + j * stride, alpha * sums[j]);
  else
    for (Index j = 0; j < n; ++j)
      store(out + j * stride, alpha * sums[j] + beta * load(out + j * stride));
}

}  // namespace

bool bfloat16_product(const Source& left, const Source& right, const Strided<bfloat16>& out,
                      float alpha, float beta) {
  const Index m = out.rows, n = out.cols, k = left.cols;
  static const bool is_able = __builtin_cpu_supports("avx512bf16") && tiles().width == 16;
  if (!is_able || k == 0 || alpha == 0 || std::min(m, n) < 4 || m * n * k < 4096) return false;
  if (n < kColumns && m > n)
    return bfloat16_product(transposed(right), transposed(left), transposed(out), alpha, beta);
  const Index pairs = (k + 1) / 2, panels = (n + kColumns - 1) / kColumns;
  Scratch<Pair> a(std::size_t(m * pairs)), b(std::size_t(panels * pairs * kColumns));
  parallel_for(m, 1 + 32768 / pairs, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) pack_row(left, i, pairs, a.data() + i * pairs);
  });
  parallel_for(panels, 1 + 2048 / pairs, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      pack_panel(transposed(right), i * kColumns, pairs, b.data() + i * pairs * kColumns);
  });
  // A task is a panel and some rows.
  const Index longest = kTaskProducts / (kColumns * k) / kRows * kRows;
  const Index rows = std::clamp<Index>(std::min(longest, Index(240)), kRows, std::max(m, kRows));
  const Index blocks = (m + rows - 1) / rows;
  parallel_for(panels * blocks, 1 + 500'000 / (kColumns * k * std::min(rows, m)),
               [&](Index begin, Index end) {
                 float sums[kRows * kColumns];
                 for (Index i = begin; i < end; ++i) {
                   const Index panel = i % panels, last = std::min(m, (i / panels + 1) * rows);
                   const Index used = std::min(kColumns, n - panel * kColumns);
                   for (Index r = i / panels * rows; r < last; r += kRows) {
                     const Index height = std::min(kRows, last - r);
                     kTiles[height - 1](a.data() + r * pairs, pairs,
                                        b.data() + panel * pairs * kColumns, pairs, sums);
                     for (Index h = 0; h < height; ++h)
                       finish(
                           sums + h * kColumns, used, alpha, beta,
                           out.data + (r + h) * out.row_stride + panel * kColumns * out.col_stride,
                           out.col_stride);
                   }
                 }
               });
  return true;
}
#else
bool bfloat16_product(const Strided<const bfloat16>&, const Strided<const bfloat16>&,
                      const Strided<bfloat16>&, float, float) {
  return false;
}
#endif

}  // namespace rushlight
