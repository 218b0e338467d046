// The register tiles of large products: up to 6 rows by four vectors of columns, in AVX-512. They
// load 10 times for 24 multiplications, the tall ones of tile_kernel.h 16 times for 28, which
// counts where another thread shares the core; but their panel is copied first, as
// [depth][columns].
#pragma once
#include "tile_kernel.h"

#if defined(__x86_64__)
namespace rushlight::tiled {

inline constexpr Index kWideVectors = 4;
inline constexpr Index kWideSums = 24;  // vectors; as many rows are packed together
constexpr Index wide_rows(Index vectors) { return kWideSums / vectors; }

// The rows of `a` lie next to each other where kNext, else a row's elements do.
template <class T, int P, int V, bool kNext>
[[gnu::target("avx512f")]] void wide_tile(const TileOf<T>& s) {
  using W = Wide<T>;
  constexpr Index kTogether = 4, b_step = V * W::kLanes;
  Sums<T, P, V> acc;
  begin_sums<T, P, V>(s, acc);
  const Index row = kNext ? 1 : s.a_row, a_step = kNext ? s.a_step : 1;
  Index row3 = 3 * row, row5 = 5 * row, step3 = 3 * a_step;
  const T *a = s.a, *high = s.a + 6 * row, *b = s.b, *next = s.next;
  if constexpr (!kNext) asm("" : "+r"(row3), "+r"(row5), "+r"(high));
  if constexpr (kNext) asm("" : "+r"(step3));
  const auto add_products = [&] [[gnu::always_inline, gnu::target("avx512f")]] (Index i) {
    typename W::Vector lanes[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) lanes[v] = W::load(b + i * b_step + v * W::kLanes);
#pragma GCC unroll 12
    for (int p = 0; p < P; ++p) {
      const T* const from = (kNext || p < 6 ? a : high) + (i == 3 ? step3 : i * a_step);
      const int q = p % 6;
      const T x = kNext ? from[p] : q == 3 ? from[row3] : q == 5 ? from[row5] : from[q * row];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) acc[p][v] += x * lanes[v];
    }
  };
  Index k = s.depth, until = s.every;
  for (; k >= kTogether; k -= kTogether, b += kTogether * b_step) {
    for (until -= kTogether; until <= 0; until += s.every, next += s.next_step)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) __builtin_prefetch(next + v * W::kLanes, 0, 2);
#pragma GCC unroll 4
    for (Index i = 0; i < kTogether; ++i) add_products(i);
    a += kTogether * a_step, high += kTogether * a_step;
  }
  for (; k > 0; --k, a += a_step, high += a_step, b += b_step) add_products(0);
  store_sums<T, P, V>(s, acc);
}

template <class T, bool kNext, int V, int... P>
TileFunction<T> pick_wide(std::integer_sequence<int, P...>, Index rows) {
  static constexpr TileFunction<T> table[] = {wide_tile<T, P + 1, V, kNext>...};
  return table[rows - 1];
}
// Of at least two vectors: fewer go by tall tiles.
template <class T, bool kNext>
TileFunction<T> pick_wide(Index rows, Index vectors) {
  const auto pick = [&]<int V> {
    return pick_wide<T, kNext, V>(std::make_integer_sequence<int, int(wide_rows(V))>(), rows);
  };
  return vectors == 2   ? pick.template operator()<2>()
         : vectors == 3 ? pick.template operator()<3>()
                        : pick.template operator()<4>();
}

}  // namespace rushlight::tiled
#endif
