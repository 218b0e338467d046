// The lanes of one vector, or of several, joined into one number each, in vectors to the end: gcc
// would take a vector's last lanes apart into single numbers.
#pragma once
#include <utility>

#include "lane_sums.h"

namespace rushlight {

template <class T>
inline constexpr int kLanesOf = 32 / int(sizeof(T));

// Of as many vectors as one has lanes: lane r of the result is that of vector r. Each round puts
// two vectors of half-joined lanes into one.
template <class Join, class V, int... k>
[[gnu::always_inline]] inline V joined_across(V* v, std::integer_sequence<int, k...>) {
  constexpr int n = sizeof...(k);
  const auto round = [&]<int half>(std::integral_constant<int, half>) {
#pragma GCC unroll 16
    for (int i = 0; i < half; ++i) {
      const V a = v[i], b = v[i + half];
      const V low = __builtin_shufflevector(a, b, (k & half ? n + (k ^ half) : k)...);
      const V high = __builtin_shufflevector(a, b, (k & half ? n + k : k | half)...);
      v[i] = Join::join(low, high);
    }
  };
  if constexpr (n > 16) round(std::integral_constant<int, 16>());
  if constexpr (n > 8) round(std::integral_constant<int, 8>());
  if constexpr (n > 4) round(std::integral_constant<int, 4>());
  if constexpr (n > 2) round(std::integral_constant<int, 2>());
  round(std::integral_constant<int, 1>());
  return v[0];
}
// Of one vector, in each lane.
template <class Join, class V, int... k>
[[gnu::always_inline]] inline V joined_within(V v, std::integer_sequence<int, k...>) {
  constexpr int n = sizeof...(k);
  const auto round = [&]<int half>(std::integral_constant<int, half>) {
    if constexpr (half < n) v = Join::join(v, V(__builtin_shufflevector(v, v, (k ^ half)...)));
  };
  round(std::integral_constant<int, 16>());
  round(std::integral_constant<int, 8>());
  round(std::integral_constant<int, 4>());
  round(std::integral_constant<int, 2>());
  round(std::integral_constant<int, 1>());
  return v;
}

}  // namespace rushlight
