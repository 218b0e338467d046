// Sums over a row with their accumulators in registers: those of an array, gcc reads and writes at
// every step.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "half.h"
#include "kernels/dtype.h"

namespace rushlight {

template <class T>
struct LanesOf {
  using type __attribute__((vector_size(32))) = T;
};

// The number at p, or the numbers from p on, as L: a number or a vector.
template <class L, class T>
[[gnu::always_inline]] inline L lanes_at(const T* p) {
  static_assert(std::is_same_v<L, T> || std::is_same_v<L, typename LanesOf<T>::type>);
  L lanes;
  std::memcpy(&lanes, p, sizeof lanes);
  return lanes;
}

// A block of elements as T: where it lies, or converted into memory of its own.
template <class S, class T>
class Converted {
 public:
  static constexpr std::int64_t kBlock = 2048;  // elements at most
  [[gnu::always_inline]] inline const T* operator()(const S* x, std::int64_t n) {
    if constexpr (std::is_same_v<S, T>) {
      return x;
    } else {
      if constexpr (std::is_same_v<S, float16> && std::is_same_v<T, float>)
        widen(block_, x, n);
      else
        for (std::int64_t i = 0; i < n; ++i) block_[i] = T(load(x + i));
      return block_;
    }
  }

 private:
  T block_[std::is_same_v<S, T> ? 1 : kBlock];
};

// The way back: a block is written at begin() and is where it belongs after end().
template <class S, class T>
class ConvertedBack {
 public:
  [[gnu::always_inline]] inline T* begin(S* y) {
    if constexpr (std::is_same_v<S, T>)
      return y;
    else
      return block_;
  }
  [[gnu::always_inline]] inline void end(S* y, std::int64_t n) {
    if constexpr (std::is_same_v<S, float16> && std::is_same_v<T, float>)
      narrow(y, block_, n);
    else if constexpr (!std::is_same_v<S, T>)
      for (std::int64_t i = 0; i < n; ++i) store(y + i, block_[i]);
  }

 private:
  T block_[std::is_same_v<S, T> ? 1 : Converted<S, T>::kBlock];
};

// With 0 in the first n lanes.
template <class V>
[[gnu::always_inline]] inline V without_first(V v, int n) {
  decltype(v < v) lane;
  for (int k = 0; k < int(sizeof v / sizeof v[0]); ++k) lane[k] = k;
  return lane < n ? V{} : v;
}

// Sums, in the end as `Sum`, of kTerms terms over i < n. What is left over at the end is in the
// last vector, which begins before it. terms(i, L()) gives an array of them for the elements from i
// on, L being T or a vector of T.
template <class T, class Sum, int kTerms, class F>
[[gnu::always_inline]] inline std::array<Sum, kTerms> lane_sums(std::int64_t n, F terms) {
  using V = typename LanesOf<T>::type;
  constexpr int kLanes = 32 / sizeof(T), kVectors = 4;
  V acc[kVectors][kTerms] = {};
  std::array<Sum, kTerms> sums = {};
  std::int64_t i = 0;
  for (; i + kVectors * kLanes <= n; i += kVectors * kLanes)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const std::array<V, kTerms> now = terms(i + v * kLanes, V{});
#pragma GCC unroll 2
      for (int t = 0; t < kTerms; ++t) acc[v][t] += now[t];
    }
  for (; i + kLanes <= n; i += kLanes) {
    const std::array<V, kTerms> now = terms(i, V{});
#pragma GCC unroll 2
    for (int t = 0; t < kTerms; ++t) acc[0][t] += now[t];
  }
  if (i < n && n >= kLanes) {
    const std::array<V, kTerms> now = terms(n - kLanes, V{});
#pragma GCC unroll 2
    for (int t = 0; t < kTerms; ++t) acc[1][t] += without_first(now[t], int(i - (n - kLanes)));
    i = n;
  }
  for (; i < n; ++i)
    for (int t = 0; t < kTerms; ++t) sums[t] += Sum(terms(i, T{})[t]);
#pragma GCC unroll 2
  for (int t = 0; t < kTerms; ++t) {
    const V all = (acc[0][t] + acc[1][t]) + (acc[2][t] + acc[3][t]);
    Sum parts[kLanes];
    for (int k = 0; k < kLanes; ++k) parts[k] = Sum(all[k]);
#pragma GCC unroll 4
    for (int half = kLanes / 2; half; half /= 2)  // each addition would wait for the one before
      for (int k = 0; k < half; ++k) parts[k] += parts[k + half];
    sums[t] += parts[0];
  }
  return sums;
}

}  // namespace rushlight
