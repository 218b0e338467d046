// One function for each number of rows and of vectors, as sums are registers.
#include "panel_sums.h"

#include <array>

#include "kernels/cpu/wide_vector.h"

namespace rushlight {

#if defined(__x86_64__)
namespace {

using Index = std::int64_t;

template <class T, int R, int V>
[[gnu::always_inline, gnu::target("avx512f")]] inline void some_rows(const PanelOf<T>& s,
                                                                     const T* left, T* out,
                                                                     __mmask16 last) {
  using W = Wide<T>;
  using Vector = typename W::Vector;
  constexpr Index n = W::kLanes;
  constexpr int kSets = R * V <= 2 ? 4 : R * V <= 4 ? 2 : 1;  // so that no sum waits for itself
  const auto lanes = [&](int v) { return v + 1 < V ? first_lanes(n) : last; };
  Vector sums[kSets][R][V] = {};
  const auto add = [&](Vector(&to)[R][V], const T* a,
                       const T* b) __attribute__((always_inline, target("avx512f"))) {
    Vector columns[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      columns[v] = W::load(lanes(v), b + v * n);
      asm("" : "+v"(columns[v]));  // read once, not by each row: it may lie across cache lines
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) to[r][v] += a[r * s.left_row] * columns[v];
  };
  const T *a = left, *b = s.right;
  Index k = s.k;
  if constexpr (kSets > 1)
    for (; k >= kSets; k -= kSets)
#pragma GCC unroll 4
      for (int set = 0; set < kSets; ++set, a += s.left_column, b += s.right_row)
        add(sums[set], a, b);
  for (; k; --k, a += s.left_column, b += s.right_row) add(sums[0], a, b);
#pragma GCC unroll 4
  for (int set = 1; set < kSets; ++set)
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sums[0][r][v] += sums[set][r][v];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      T* const to = out + r * s.out_row + v * n;
      Vector result = s.alpha * sums[0][r][v];
      if (s.beta != T(0)) result += s.beta * W::load(lanes(v), to);
      W::store(to, lanes(v), result);
    }
}

template <int V>
constexpr int kRowsOf = V == 1   ? 8
                        : V == 2 ? 6
                                 : 4;  // their sums and columns are in registers

template <class T, int V, int R = 1>
[[gnu::always_inline, gnu::target("avx512f")]] inline void last_rows(const PanelOf<T>& s,
                                                                     const T* left, T* out,
                                                                     __mmask16 last, Index rows) {
  if constexpr (R < kRowsOf<V>) {
    if (rows == R) return some_rows<T, R, V>(s, left, out, last);
    last_rows<T, V, R + 1>(s, left, out, last, rows);
  }
}

// All rows, by V vectors.
template <class T, int V>
[[gnu::target("avx512f")]] void rows_by_panel(const PanelOf<T>& s) {
  constexpr Index kLanes = Wide<T>::kLanes, kRows = kRowsOf<V>;
  const __mmask16 last = first_lanes(s.n - (V - 1) * kLanes);
  const T* left = s.left;
  T* out = s.out;
  Index rows = s.m;
  for (; rows >= kRows; rows -= kRows, left += kRows * s.left_row, out += kRows * s.out_row)
    some_rows<T, int(kRows), V>(s, left, out, last);
  last_rows<T, V>(s, left, out, last, rows);
}

}  // namespace

template <class T>
void add_panel(const PanelOf<T>& panel) {
  constexpr std::array by_vectors = {rows_by_panel<T, 1>, rows_by_panel<T, 2>, rows_by_panel<T, 3>,
                                     rows_by_panel<T, 4>};
  by_vectors[std::size_t((panel.n - 1) / Wide<T>::kLanes)](panel);
}
#else
template <class T>
void add_panel(const PanelOf<T>&) {}
#endif

template void add_panel(const PanelOf<float>&);
template void add_panel(const PanelOf<double>&);

}  // namespace rushlight
