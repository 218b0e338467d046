// The weight gradient's register tile of bfloat16, by AVX512-BF16.
#include <utility>

#include "bfloat16.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rushlight::conv {

#if defined(__x86_64__)
namespace {

// Two elements of k at a time, so that `out` goes on by their sum.
template <int P, int Panels>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void weight_tile(
    const TileArgsOf<Pair>& s) {
  __m512 acc[P][Panels];
#pragma GCC unroll 14
  for (int p = 0; p < P; ++p)
#pragma GCC unroll 2
    for (int v = 0; v < Panels; ++v) acc[p][v] = _mm512_loadu_ps(s.out + p * s.ldo + v * kPanel);
  for (Index r = 0; r < s.rows; ++r) {
    const int* off = s.off + r * s.ld;
    const Pair* b = s.b + r * s.ld * kPanel;
    for (Index k = 0; k < s.n; ++k, b += kPanel) {
      const Pair* const a = s.a + off[k];
      __m512bh lanes[Panels];
#pragma GCC unroll 2
      for (int v = 0; v < Panels; ++v) lanes[v] = (__m512bh)_mm512_loadu_si512(b + v * s.panel);
#pragma GCC unroll 14
      for (int p = 0; p < P; ++p) {
        const auto one = (__m512bh)_mm512_set1_epi32(int(a[p]));
#pragma GCC unroll 2
        for (int v = 0; v < Panels; ++v) acc[p][v] = _mm512_dpbf16_ps(acc[p][v], one, lanes[v]);
      }
    }
  }
#pragma GCC unroll 14
  for (int p = 0; p < P; ++p)
#pragma GCC unroll 2
    for (int v = 0; v < Panels; ++v) _mm512_storeu_ps(s.out + p * s.ldo + v * kPanel, acc[p][v]);
}
template <int Panels, int... P>
PairTile pick(Index p, std::integer_sequence<int, P...>) {
  constexpr PairTile all[] = {weight_tile<P + 1, Panels>...};
  return all[p - 1];
}

}  // namespace

PairTile pair_tile(Index panels, Index p) {
  const std::make_integer_sequence<int, 14> heights;
  return panels == 2 ? pick<2>(p, heights) : pick<1>(p, heights);
}

#else
PairTile pair_tile(Index, Index) { return nullptr; }
#endif

}  // namespace rushlight::conv
