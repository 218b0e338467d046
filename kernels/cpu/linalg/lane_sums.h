// The sums over the lanes of eight vectors at once. For AVX-512.
#pragma once
#include "kernels/cpu/wide_vector.h"

#if defined(__x86_64__)
namespace rushlight {

// x[i] += x[i + half], zipped: what belongs to a sum lies next to each other.
template <int half, class V, int... j>
[[gnu::always_inline, gnu::target("avx512f")]] inline void add_zipped(
    V* x, std::integer_sequence<int, j...>) {
  constexpr int n = sizeof...(j);
#pragma GCC unroll 4
  for (int i = 0; i < half; ++i)
    x[i] = __builtin_shufflevector(x[i], x[i + half], (j / 2 + j % 2 * n)...) +
           __builtin_shufflevector(x[i], x[i + half], (n / 2 + j / 2 + j % 2 * n)...);
}
template <class V, int... j>
[[gnu::always_inline, gnu::target("avx512f")]] inline V halves_added(
    V x, std::integer_sequence<int, j...>) {
  return x + __builtin_shufflevector(x, x, ((j + sizeof...(j) / 2) % sizeof...(j))...);
}

// The sums over the lanes of eight vectors, in the first eight lanes.
template <class T>
[[gnu::always_inline, gnu::target("avx512f")]] inline typename Wide<T>::Vector sums_of(
    typename Wide<T>::Vector* x) {
  constexpr std::make_integer_sequence<int, int(Wide<T>::kLanes)> lanes;
  add_zipped<4>(x, lanes);
  add_zipped<2>(x, lanes);
  add_zipped<1>(x, lanes);
  if constexpr (lanes.size() == 16)
    return halves_added(x[0], lanes);
  else
    return x[0];
}

}  // namespace rushlight
#endif
