// `right` is packed as [panel][pair of rows][32 columns][2], `left` is read where it lies or from
// rows of pairs; a tile of 12 rows and 32 columns stays in registers over the whole depth. Where
// the processor has tiles, amx_product.h does it. Note: as in PyTorch on such processors, the
// instructions take denormal numbers as 0.
#include "bfloat16_product.h"

#include <algorithm>
#include <cstring>

#include "amx_product.h"
#include "bfloat16_panels.h"
#include "bfloat16_sums.h"
#include "kernels/cpu/scratch.h"
#include "kernels/parallel.h"
#include "register_tile.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rushlight {

#if defined(__x86_64__)
namespace {

using Index = std::int64_t;
using Pair = Bfloat16Pair;
using Source = StridedMatrix<const bfloat16>;
constexpr Index kColumns = kPairColumns, kRows = 12;
constexpr Index kTaskProducts = 100'000'000;  // so that Ctrl-C is answered

// Where a tile goes: to sums[row][32], or rounded into rows of `out`.
struct Target {
  float* sums;
  const Bfloat16Rows* out;  // or null
};

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
    if (to.out) {
      round_row(acc[r][0], acc[r][1], *to.out, r);
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

bool bfloat16_product(const Source& left, const Source& right, const Bfloat16Output& output) {
  const Index m = output.out.rows, n = output.out.cols, k = left.cols;
  if (!multiplies_bfloat16() || k == 0 || output.alpha == 0 || std::min(m, n) < 4 ||
      m * n * k < 4096)
    return false;
  if (amx_product(left, right, output)) return true;
  if (n < kColumns && m > n)
    return bfloat16_product(transposed(right), transposed(left), transposed(output));
  const Index pairs = (k + 1) / 2, panels = (n + kColumns - 1) / kColumns;
  const bool in_place = is_readable(left);
  Scratch<Pair> a(std::size_t(in_place ? 1 : m * pairs)), b(std::size_t(panels * pairs * kColumns));
  if (!in_place)
    parallel_for((m + kColumns - 1) / kColumns, 1 + 2048 / pairs, [&](Index begin, Index end) {
      pack_pairs(left, begin * kColumns, std::min(m, end * kColumns), pairs,
                 a.data() + begin * kColumns * pairs);
    });
  const bfloat16* const rows_of_left =
      in_place ? left.data : reinterpret_cast<const bfloat16*>(a.data());
  const Index step = in_place ? left.row_stride : 2 * pairs;
  parallel_for(panels, 1 + 2048 / pairs, [&](Index begin, Index end) {
    pack_panels(transposed(right), begin, end, pairs, b.data() + begin * pairs * kColumns);
  });
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
          const Index first = i / panels * rows, parts = (last - first + kRows - 1) / kRows;
          for (Index part = 0, r = first; part < parts; ++part) {  // of like heights
            const Index height = (last - r + parts - part - 1) / (parts - part);
            const Bfloat16Rows to = rows_of(output, r, panel * kColumns);
            kTiles[height - 1](rows_of_left + r * step, step, b.data() + panel * pairs * kColumns,
                               pairs, {sums, is_plain(output) ? &to : nullptr});
            if (!is_plain(output)) put_sums(sums, output, r, panel * kColumns, height);
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
                      const Bfloat16Output&) {
  return false;
}
#endif

}  // namespace rushlight
