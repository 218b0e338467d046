// `right` is packed as [panel][pair of rows][32 columns][2], `left` is read where it lies or from
// rows of pairs; a tile of 12 rows and 32 columns stays in registers over the whole depth. Note: as
// in PyTorch on such processors, the instructions take denormal numbers as 0.
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
using Source = StridedMatrix<const bfloat16>;
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

// The rows of `right` (k of them, `ld` apart) two by two, `used` columns of them, `step` apart.
CLONES_512 void zip_rows(const bfloat16* rows, Index step, Index used, Index ld, Index k,
                         Pair* to) {
  for (; k > 1; k -= 2, rows += 2 * ld, to += kColumns) {
    const bfloat16* const next = rows + ld;
    if (step == 1 && used == kColumns)
      for (Index c = 0; c < kColumns; ++c) to[c] = rows[c].bits | Pair(next[c].bits) << 16;
    else
      for (Index c = 0; c < used; ++c)
        to[c] = rows[c * step].bits | Pair(next[c * step].bits) << 16;
  }
  for (Index c = 0; k && c < used; ++c) to[c] = rows[c * step].bits;
}

// Columns [first, first + 32) of `right`, whose transpose is `transposed`; zeros beyond its edge.
void pack_panel(const Source& transposed, Index first, Index pairs, Pair* to) {
  const Index used = std::min(kColumns, transposed.rows - first);
  if (used < kColumns) std::fill_n(to, pairs * kColumns, Pair(0));
  if (transposed.row_stride == 1 || transposed.row_stride < transposed.col_stride)
    return zip_rows(transposed.data + first * transposed.row_stride, transposed.row_stride, used,
                    transposed.col_stride, transposed.cols, to);
  Scratch<Pair> rows(std::size_t(used * pairs));
  for (Index c = 0; c < used; ++c) pack_row(transposed, first + c, pairs, rows.data() + c * pairs);
  transpose(rows.data(), pairs, used, pairs, to, kColumns);
}

// Rows [first, first + 32) of `left`, which is read along its columns.
void pack_columns(const Source& left, Index first, Index pairs, Pair* to) {
  const Index used = std::min(kColumns, left.rows - first);
  Scratch<Pair> zipped(std::size_t(pairs * kColumns));
  zip_rows(left.data + first, 1, used, left.col_stride, left.cols, zipped.data());
  transpose(zipped.data(), kColumns, pairs, used, to, pairs);
}

// Where a tile goes: to sums[row][32], or rounded to the columns of `mask` in rows of `out`.
struct Target {
  float* sums;
  bfloat16* out;  // or null
  Index ldo;
  std::uint32_t mask;
  bool adds;  // to what `out` holds
};

// 16 elements as floats, those of `mask`. Note: gcc 12 warns of the forms without a mask.
[[gnu::always_inline, gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] inline __m512 widened(
    const bfloat16* from, std::uint32_t mask) {
  const __m256i halves = _mm256_maskz_loadu_epi16(__mmask16(mask), from);
  return (__m512)((__v16su)_mm512_maskz_cvtepu16_epi32(0xffff, halves) << 16);
}

// R rows of pairs, `step` elements from row to row
template <int R>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void tile(const bfloat16* left, Index step,
                                                                  const Pair* panel, Index pairs,
                                                                  const Target& to) {
  __m512 acc[R][2];
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) acc[r][0] = acc[r][1] = _mm512_setzero_ps();
  for (Index p = 0; p < pairs; ++p, panel += kColumns) {
    const auto low = (__m512bh)_mm512_loadu_si512(panel);
    const auto high = (__m512bh)_mm512_loadu_si512(panel + 16);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
      int pair;
      std::memcpy(&pair, left + r * step + 2 * p, sizeof pair);
      const auto a = (__m512bh)_mm512_set1_epi32(pair);
      acc[r][0] = _mm512_dpbf16_ps(acc[r][0], a, low);
      acc[r][1] = _mm512_dpbf16_ps(acc[r][1], a, high);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) {
    if (to.out && to.adds) {
      acc[r][0] += widened(to.out + r * to.ldo, to.mask);
      if (to.mask >> 16) acc[r][1] += widened(to.out + r * to.ldo + 16, to.mask >> 16);
    }
    if (to.out) {
      _mm512_mask_storeu_epi16(to.out + r * to.ldo, to.mask,
                               (__m512i)_mm512_cvtne2ps_pbh(acc[r][1], acc[r][0]));
    } else {
      _mm512_storeu_ps(to.sums + r * kColumns, acc[r][0]);
      _mm512_storeu_ps(to.sums + r * kColumns + 16, acc[r][1]);
    }
  }
}
using Tile = void (*)(const bfloat16*, Index, const Pair*, Index, const Target&);
constexpr Tile kTiles[] = {tile<1>, tile<2>, tile<3>, tile<4>,  tile<5>,  tile<6>,
                           tile<7>, tile<8>, tile<9>, tile<10>, tile<11>, tile<12>};

// Whether tiles may read it where it lies: whole pairs, and rows that do not all fall into the same
// few lines of the nearest cache.
bool is_readable(const Source& left) {
  return left.col_stride == 1 && left.cols % 2 == 0 && left.row_stride % 1024 != 0;
}

// A row of sums, finished and rounded.
CLONES_512 void finish(const float* sums, Index n, float alpha, float beta, bfloat16* out,
                       Index stride) {
  if (stride == 1 && beta == 0)
    for (Index j = 0; j < n; ++j) store(out + j, alpha * sums[j]);
  else if (beta == 0)
    for (Index j = 0; j < n; ++j) store(out + j * stride, alpha * sums[j]);
  else
    for (Index j = 0; j < n; ++j)
      store(out + j * stride, alpha * sums[j] + beta * load(out + j * stride));
}

// sums[4] = four rows, `step` apart, times v
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void dot_four(const bfloat16* rows,
                                                                      Index step, const bfloat16* v,
                                                                      Index k, float* sums) {
  __m512 acc[4];
  for (__m512& a : acc) a = _mm512_setzero_ps();
  for (Index i = 0; i < k; i += kColumns) {
    const auto mask = std::uint32_t((std::uint64_t(1) << std::min(kColumns, k - i)) - 1);
    const auto b = (__m512bh)_mm512_maskz_loadu_epi16(mask, v + i);
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r)
      acc[r] = _mm512_dpbf16_ps(acc[r],
                                (__m512bh)_mm512_maskz_loadu_epi16(mask, rows + r * step + i), b);
  }
  for (int r = 0; r < 4; ++r) {
    sums[r] = 0;
    for (int i = 0; i < 16; ++i) sums[r] += acc[r][i];
  }
}

}  // namespace

bool multiplies_bfloat16() {
  static const bool able = __builtin_cpu_supports("avx512bf16") && tiles().width == 16;
  return able;
}

bool bfloat16_dots(const bfloat16* rows, Index step, const bfloat16* v, Index k, float* sums) {
  if (!multiplies_bfloat16()) return false;
  dot_four(rows, step, v, k, sums);
  return true;
}

bool bfloat16_product(const Source& left, const Source& right, const StridedMatrix<bfloat16>& out,
                      float alpha, float beta) {
  const Index m = out.rows, n = out.cols, k = left.cols;
  if (!multiplies_bfloat16() || k == 0 || alpha == 0 || std::min(m, n) < 4 || m * n * k < 4096)
    return false;
  if (n < kColumns && m > n)
    return bfloat16_product(transposed(right), transposed(left), transposed(out), alpha, beta);
  const Index pairs = (k + 1) / 2, panels = (n + kColumns - 1) / kColumns;
  const bool in_place = is_readable(left);
  Scratch<Pair> a(std::size_t(in_place ? 1 : m * pairs)), b(std::size_t(panels * pairs * kColumns));
  if (!in_place && left.row_stride == 1)
    parallel_for((m + kColumns - 1) / kColumns, 1 + 2048 / pairs, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        pack_columns(left, i * kColumns, pairs, a.data() + i * kColumns * pairs);
    });
  else if (!in_place)
    parallel_for(m, 1 + 32768 / pairs, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) pack_row(left, i, pairs, a.data() + i * pairs);
    });
  const bfloat16* const rows_of_left =
      in_place ? left.data : reinterpret_cast<const bfloat16*>(a.data());
  const Index step = in_place ? left.row_stride : 2 * pairs;
  parallel_for(panels, 1 + 2048 / pairs, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      pack_panel(transposed(right), i * kColumns, pairs, b.data() + i * pairs * kColumns);
  });
  const bool plain = alpha == 1 && (beta == 0 || beta == 1) && out.col_stride == 1;
  // A task is a panel and some rows.
  const Index longest = kTaskProducts / (kColumns * k) / kRows * kRows;
  const Index rows = std::clamp<Index>(std::min(longest, Index(240)), kRows, std::max(m, kRows));
  const Index blocks = (m + rows - 1) / rows;
  parallel_for(
      panels * blocks, 1 + 500'000 / (kColumns * k * std::min(rows, m)),
      [&](Index begin, Index end) {
        float sums[kRows * kColumns];
        for (Index i = begin; i < end; ++i) {
          const Index panel = i % panels, last = std::min(m, (i / panels + 1) * rows);
          const Index used = std::min(kColumns, n - panel * kColumns);
          const Index first = i / panels * rows, parts = (last - first + kRows - 1) / kRows;
          for (Index part = 0, r = first; part < parts; ++part) {  // of like heights
            const Index height = (last - r + parts - part - 1) / (parts - part);
            bfloat16* const o = out.data + r * out.row_stride + panel * kColumns * out.col_stride;
            kTiles[height - 1](rows_of_left + r * step, step, b.data() + panel * pairs * kColumns,
                               pairs,
                               {sums, plain ? o : nullptr, out.row_stride,
                                std::uint32_t((std::uint64_t(1) << used) - 1), beta != 0});
            for (Index h = 0; h < height && !plain; ++h)
              finish(sums + h * kColumns, used, alpha, beta, o + h * out.row_stride,
                     out.col_stride);
            r += height;
          }
        }
      });
  return true;
}
#else
bool multiplies_bfloat16() { return false; }
bool bfloat16_dots(const bfloat16*, std::int64_t, const bfloat16*, std::int64_t, float*) {
  return false;
}
bool bfloat16_product(const StridedMatrix<const bfloat16>&, const StridedMatrix<const bfloat16>&,
                      const StridedMatrix<bfloat16>&, float, float) {
  return false;
}
#endif

}  // namespace rushlight
