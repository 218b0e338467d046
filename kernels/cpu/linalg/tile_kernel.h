// The register tiles of tile_gemm: up to 14 rows by two vectors of columns, in AVX-512. Where both
// operands lie in a tile's order, its steps are constants: nothing but the sums is computed, which
// counts where another thread shares the core.
#pragma once
#include <cstdint>
#include <utility>

#include "kernels/cpu/wide_vector.h"

#if defined(__x86_64__)
namespace rushlight::tiled {

using Index = std::int64_t;
inline constexpr Index kRows = 14, kVectors = 2;
inline constexpr Index kAhead = 8;  // rows of a panel that are fetched ahead

template <class T>
struct TileOf {
  const T* a;
  Index a_row = 0, a_step = 0;  // from row to row, along the depth
  const T* b;
  Index b_step = 0, depth;  // along the depth
  T* out;
  Index ldo;
  const T* added;
  Index ld_added;
  T alpha, beta;
  __mmask16 mask;  // columns of the last vector that are stored
  T* copy = nullptr;  // of the panel; a step of 0 keeps nothing
  Index copy_step = 0;
  const T* next;  // what is read after this panel: a row of it is fetched at every so many steps
  Index next_step = 0, every;
};

template <class T, int P, int V>
using Sums = typename Wide<T>::Vector[P][V];

template <class T, int P, int V>
[[gnu::always_inline, gnu::target("avx512f")]] inline void begin_sums(const TileOf<T>& s,
                                                                      Sums<T, P, V>& acc) {
#pragma GCC unroll 14
  for (int p = 0; p < P; ++p)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      acc[p][v] = typename Wide<T>::Vector{};
      __builtin_prefetch(s.out + p * s.ldo + v * Wide<T>::kLanes, 1);
    }
}
template <class T, int P, int V>
[[gnu::always_inline, gnu::target("avx512f")]] inline void store_sums(const TileOf<T>& s,
                                                                      Sums<T, P, V>& acc) {
  using W = Wide<T>;
  const T alpha = s.alpha, beta = s.beta;
  const __mmask16 mask = s.mask;
  T* to = s.out;
  const T* added = s.added;
#pragma GCC unroll 14
  for (int p = 0; p < P; ++p, to += s.ldo, added += s.ld_added)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      const __mmask16 some = v == V - 1 ? mask : first_lanes(W::kLanes);
      acc[p][v] *= alpha;
      if (beta != T(0)) acc[p][v] += beta * W::load(some, added + v * W::kLanes);
      W::store(to + v * W::kLanes, some, acc[p][v]);
    }
}
template <class T>
[[gnu::always_inline, gnu::target("avx512f")]] inline void fetch_next(const T* next) {
  __builtin_prefetch(next, 0, 2);
  __builtin_prefetch(next + Wide<T>::kLanes, 0, 2);
  __builtin_prefetch(next + 2 * Wide<T>::kLanes - 1, 0, 2);
}

// `a` as [depth][P] and `b` as [depth][V vectors]: one step of the depth.
template <class T, int P, int V>
[[gnu::always_inline, gnu::target("avx512f")]] inline void add_products(const T* a, const T* b,
                                                                        Sums<T, P, V>& acc) {
  using W = Wide<T>;
  typename W::Vector lanes[V];
#pragma GCC unroll 2
  for (int v = 0; v < V; ++v) {
    lanes[v] = W::load(b + v * W::kLanes);
    __builtin_prefetch(b + (kAhead * V + v) * W::kLanes);
  }
#pragma GCC unroll 14
  for (int p = 0; p < P; ++p)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) acc[p][v] += a[p] * lanes[v];
}
template <class T, int P, int V>
[[gnu::target("avx512f")]] void packed_tile(const TileOf<T>& s) {
  constexpr Index kTogether = 4, wide = V * Wide<T>::kLanes;
  Sums<T, P, V> acc;
  begin_sums<T, P, V>(s, acc);
  const T *a = s.a, *b = s.b, *next = s.next;
  Index k = s.depth, until = s.every;
  for (; k >= kTogether; k -= kTogether, a += kTogether * P, b += kTogether * wide) {
    for (until -= kTogether; until <= 0; until += s.every, next += s.next_step) fetch_next(next);
#pragma GCC unroll 4
    for (Index i = 0; i < kTogether; ++i) add_products<T, P, V>(a + i * P, b + i * wide, acc);
  }
  for (; k > 0; --k, a += P, b += wide) add_products<T, P, V>(a, b, acc);
  store_sums<T, P, V>(s, acc);
}

// In any order; the rows of `a` lie next to each other where kNext.
template <class T, int P, int V, bool kNext>
[[gnu::target("avx512f")]] void tile(const TileOf<T>& s) {
  using W = Wide<T>;
  Sums<T, P, V> acc;
  begin_sums<T, P, V>(s, acc);
  // 14 rows within reach of two pointers and three steps. Note: gcc must not know how the steps
  // depend on each other, else it computes addresses on the port of the second multiplier.
  const Index row = kNext ? 1 : s.a_row;
  Index row3 = 3 * row, row5 = 5 * row;
  const T *a = s.a, *high = s.a + 7 * row, *b = s.b;
  if constexpr (!kNext) asm("" : "+r"(row3), "+r"(row5), "+r"(high));
  const Index a_step = s.a_step, b_step = s.b_step, copy_step = s.copy_step;
  T* copy = s.copy;
  const T* next = s.next;
  Index until = s.every;
  for (Index k = s.depth; k > 0; --k, a += a_step, high += a_step, b += b_step) {
    typename W::Vector lanes[V];
    __builtin_prefetch(b + kAhead * b_step);
    if constexpr (V == 2) __builtin_prefetch(b + kAhead * b_step + W::kLanes);
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) {
      lanes[v] = W::load(b + v * W::kLanes);
      W::store(copy + v * W::kLanes, first_lanes(W::kLanes), lanes[v]);
    }
    copy += copy_step;
    if (--until == 0) {
      fetch_next(next);
      next += s.next_step;
      until = s.every;
    }
#pragma GCC unroll 14
    for (int p = 0; p < P; ++p) {
      const T* const from = p < 7 ? a : high;
      const int q = p % 7;
      const T x = kNext    ? a[p]
                  : q == 3 ? from[row3]
                  : q == 5 ? from[row5]
                  : q == 6 ? from[2 * row3]
                           : from[q * row];
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) acc[p][v] += x * lanes[v];
    }
  }
  store_sums<T, P, V>(s, acc);
}
template <class T>
using TileFunction = void (*)(const TileOf<T>&);
enum class Order { packed, next, rows };  // of the operands: both packed, or how `a` lies
template <class T, int... P>
TileFunction<T> pick(std::integer_sequence<int, P...>, Order order, Index rows, Index vectors) {
  static constexpr TileFunction<T> table[3][2][kRows] = {
      {{packed_tile<T, P + 1, 1>...}, {packed_tile<T, P + 1, 2>...}},
      {{tile<T, P + 1, 1, true>...}, {tile<T, P + 1, 2, true>...}},
      {{tile<T, P + 1, 1, false>...}, {tile<T, P + 1, 2, false>...}}};
  return table[int(order)][vectors - 1][rows - 1];
}

}  // namespace rushlight::tiled
#endif
