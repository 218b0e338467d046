// Eight vectors of sums stay in registers, two of columns by four rows or one by eight, with the
// weights of one column of the window.
#include "plane_rows.h"

#include <algorithm>
#include <utility>

#include "kernels/cpu/linalg/register_tile.h"
#include "kernels/cpu/wide_vector.h"

namespace rushlight::conv {
namespace {

using Index = std::int64_t;
constexpr int kFewest = 2, kMost = 7;  // rows of a window
constexpr int kSums = 8;

#if defined(__x86_64__)
// Of rows from `top` on and of columns from `column` on.
template <int K, int V, class T>
[[gnu::always_inline, gnu::target("avx512f")]] inline void block(const PlaneRowsArgs<T>& s,
                                                                 Index top, Index column) {
  using W = Wide<T>;
  constexpr int kRows = kSums / V;
  const Index first = s.first - top, end = s.end - top;
  typename W::Vector sums[kRows][V];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) sums[r][v] = typename W::Vector{} + s.bias;
  for (Index tap = 0; tap < s.kw; ++tap) {
    typename W::Vector weight[K];
#pragma GCC unroll 8
    for (int t = 0; t < K; ++t) weight[t] = typename W::Vector{} + s.w[t * s.kw + tap];
#pragma GCC unroll 16
    for (int i = 0; i < kRows + K - 1; ++i) {
      if (i < first || i >= end) continue;
      const T* const from = s.x + (s.at + (top + i) * s.row + s.off[tap] + column);
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) {
        const typename W::Vector x = W::load(from + v * W::kLanes);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r)
          if (i - r >= 0 && i - r < K) sums[r][v] += weight[i - r] * x;
      }
    }
  }
  for (int v = 0; v < V; ++v) {
    const auto lanes = first_lanes(std::min(W::kLanes, s.columns - column - v * W::kLanes));
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
      if (top + r < s.rows)
        W::store(s.y + (top + r) * s.y_row + column + v * W::kLanes, lanes, sums[r][v]);
  }
}
template <int K, class T>
[[gnu::target("avx512f")]] void rows(const PlaneRowsArgs<T>& s) {
  constexpr Index lanes = Wide<T>::kLanes;
  Index column = 0;
  for (; s.columns - column > lanes; column += 2 * lanes)
    for (Index top = 0; top < s.rows; top += kSums / 2) block<K, 2>(s, top, column);
  for (Index top = 0; column < s.columns && top < s.rows; top += kSums) block<K, 1>(s, top, column);
}
template <class T, int... K>
PlaneRows<T> pick(std::int64_t kh, std::integer_sequence<int, K...>) {
  static constexpr PlaneRows<T> table[] = {rows<kFewest + K, T>...};
  return table[kh - kFewest];
}
#endif

}  // namespace

template <class T>
PlaneRows<T> plane_rows([[maybe_unused]] std::int64_t kh) {
#if defined(__x86_64__)
  if (tiles().width == 16 && kh >= kFewest && kh <= kMost)
    return pick<T>(kh, std::make_integer_sequence<int, kMost - kFewest + 1>());
#endif
  return nullptr;
}

template PlaneRows<float> plane_rows(std::int64_t);
template PlaneRows<double> plane_rows(std::int64_t);

}  // namespace rushlight::conv
