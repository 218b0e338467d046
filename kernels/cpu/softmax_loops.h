// The loops of softmax and cross entropy over one contiguous row, or over the columns of a block.
// Note: sums and maxima have 32 accumulators, without which gcc leaves them scalar.
#pragma once
#include <algorithm>
#include <limits>

#include "../host_device.h"
#include "../view.h"
#include "kernels/cpu/interruptible.h"
#include "kernels/math/exponential.h"

namespace rushlight::rows {

using Index = std::int64_t;
inline constexpr int kLanes = 32;

// exp(x) for x <= 0, as all exponents here are: a third cheaper than exp. What would be smaller
// than the smallest normal number is 0.
template <Real T>
[[gnu::always_inline]] inline T negative_exp(T x) {
  using L = Layout<T>;
  constexpr T low = sizeof(T) == 4 ? T(-87.33) : T(-708.3);
  const T z = x < low ? low : x;
  const T shifted = z * T(1.44269504088896340736) + L::magic, n = shifted - L::magic;
  const T r = (z - n * L::ln2_high) - n * L::ln2_low;
  const T p = T(1) + (r + r * r * polynomial<coefficients::Of<T>::exp>(r));
  const T y = p * power_of_two<T>(integer_of(shifted));
  return x < low ? T(0) : y;
}

// f over n lanes, by halves: each step is one operation of vectors.
template <int n, class T, class F>
[[gnu::always_inline]] inline T joined(const T* lanes, const F& f) {
  if constexpr (n == 1) {
    return lanes[0];
  } else {
    T half[n / 2];
    for (int k = 0; k < n / 2; ++k) half[k] = f(lanes[k], lanes[k + n / 2]);
    return joined<n / 2>(half, f);
  }
}

template <int N = kLanes, class T>
[[gnu::always_inline]] inline T total(const T* acc) {
  return joined<N>(acc, [](T a, T b) { return a + b; });
}
template <int N, class T>
[[gnu::always_inline]] inline T greatest(const T* acc) {
  return joined<N>(acc, [](T a, T b) { return b > a ? b : a; });
}

template <class S, class T = Compute<S>>
CLONES_512 T largest(const S* x, Index n) {
  if (n < kLanes) {
    T best = -std::numeric_limits<T>::infinity();
    for (Index i = 0; i < n; ++i) best = load(x + i) > best ? load(x + i) : best;
    return best;
  }
  // Two maxima for each lane, as one would wait for itself.
  T top[kLanes], other[kLanes];
  for (int k = 0; k < kLanes; ++k) top[k] = other[k] = load(x + n - kLanes + k);
  const auto raise = [&](T* best, Index i) {
    for (int k = 0; k < kLanes; ++k) {
      const T v = load(x + i + k);
      best[k] = v > best[k] ? v : best[k];
    }
  };
  Index i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) raise(top, i), raise(other, i + kLanes);
  if (i + kLanes <= n) raise(top, i);
  for (int k = 0; k < kLanes; ++k) top[k] = other[k] > top[k] ? other[k] : top[k];
  return greatest<kLanes>(top);
}

inline constexpr Index kPiece = 512;  // numbers that are computed before they are added up
inline constexpr Index kShortRow = 4096;  // up to here the next row is prefetched meanwhile

inline constexpr int kPart = 16;
// Sum of value(0) to value(n - 1), in lanes to the last: the last part begins so early that it is
// whole.
template <class T, class F>
[[gnu::always_inline]] inline T sum_in_lanes(Index n, const F& value) {
  T rest = 0;
  if (n < kPart) {
    for (Index i = 0; i < n; ++i) rest += value(i);
    return rest;
  }
  Index i = 0;
  if (n >= kLanes) {
    T acc[kLanes] = {};
    for (; i + kLanes <= n; i += kLanes)
      for (int k = 0; k < kLanes; ++k) acc[k] += value(i + k);
    rest = total(acc);
  }
  if (i == n) return rest;
  T acc[kPart] = {};
  if (const Index last = n - kPart; i < last) {
#pragma GCC unroll 1
    for (int k = 0; k < kPart; ++k) acc[k] = value(i + k);
    i += kPart;
  }
  const Index last = n - kPart;
  const int shared = int(i - last);
#pragma GCC unroll 1
  for (int k = 0; k < kPart; ++k) acc[k] += k < shared ? T(0) : value(last + k);
  return rest + total<kPart>(acc);
}
template <class S>
[[gnu::always_inline]] inline void ask_for(const S* x, Index n) {
  for (Index i = 0; i < n; i += 64 / Index(sizeof(S))) __builtin_prefetch(x + i);
}

// Sum of exp(x - top) over n numbers, calling keep(i, the exp) of each, of some more than once; the
// next row is asked for meanwhile.
template <class S, class F, class T = Compute<S>>
[[gnu::always_inline]] inline T each_exp(const S* __restrict x, Index n, T top, const F& keep) {
  const auto part = [&](Index i, T* acc, int shared) {
#pragma GCC unroll 1
    for (int k = 0; k < kPart; ++k) {
      const T e = negative_exp(load(x + i + k) - top);
      keep(i + k, e);
      acc[k] += k < shared ? T(0) : e;
    }
  };
  T sum = 0;
  if (n < kPart) {
    for (Index i = 0; i < n; ++i) {
      const T e = negative_exp(load(x + i) - top);
      keep(i, e);
      sum += e;
    }
    return sum;
  }
  Index i = 0;
  while (i < n) {
    T even[kPart] = {}, odd[kPart] = {};
    const Index end = std::min(n, i + kPiece);
    for (; i + 2 * kPart <= end; i += 2 * kPart) {
      if (n <= kShortRow) ask_for(x + n + i, 2 * kPart);
      part(i, even, 0);
      part(i + kPart, odd, 0);
    }
    if (i + kPart <= end) part(i, even, 0), i += kPart;
    if (i < end) {
      part(end - kPart, odd, int(i - (end - kPart)));
      i = end;
    }
    for (int k = 0; k < kPart; ++k) even[k] += odd[k];
    sum += total<kPart>(even);
  }
  return sum;
}
template <class S, class T = Compute<S>>
CLONES_512 T keep_exp(const S* __restrict x, Index n, T top, T* __restrict y) {
  return each_exp(x, n, top, [&](Index i, T e) { y[i] = e; });
}
template <class S, class T = Compute<S>>
CLONES_512 T sum_exp(const S* __restrict x, Index n, T top) {
  return each_exp(x, n, top, [](Index, T) {});
}
// Short rows, which would be computed one by one at their end: in pieces of kPart, the last of
// which begins so early that it is whole. What it shares with the piece before is the same in both.
inline constexpr Index kPartedRow = 256;
constexpr bool is_parted(Index n) { return n >= kPart && n < kPartedRow && n % kLanes != 0; }

// Sum of exp(x - top), which `v` holds afterwards piece by piece.
template <class S, class T>
[[gnu::always_inline]] inline T exp_in_parts(const S* __restrict x, Index n, T* __restrict v,
                                             T& top) {
  const Index last = n - kPart;
  T tops[kPart], acc[kPart] = {};
#pragma GCC unroll 1
  for (int k = 0; k < kPart; ++k) tops[k] = load(x + last + k);
  for (Index i = 0; i < last; i += kPart)
#pragma GCC unroll 1
    for (int k = 0; k < kPart; ++k) {
      const T value = load(x + i + k);
      tops[k] = value > tops[k] ? value : tops[k];
    }
  top = greatest<kPart>(tops);
  Index i = 0;
  for (; i < last; i += kPart)
#pragma GCC unroll 1
    for (int k = 0; k < kPart; ++k) {
      v[i + k] = negative_exp(load(x + i + k) - top);
      acc[k] += v[i + k];
    }
  const int shared = int(i - last);
#pragma GCC unroll 1
  for (int k = 0; k < kPart; ++k) {
    v[i + k] = negative_exp(load(x + last + k) - top);
    acc[k] += k < shared ? T(0) : v[i + k];
  }
  return total<kPart>(acc);
}
template <class S, class T = Compute<S>>
CLONES_512 void parted_softmax(const S* __restrict x, Index n, S* __restrict y) {
  T v[kPartedRow], top;
  const T factor = T(1) / exp_in_parts(x, n, v, top);
  for (Index i = 0; i < n; i += kPart) {
    S* const to = y + std::min(i, n - kPart);
#pragma GCC unroll 1
    for (int k = 0; k < kPart; ++k) store(to + k, v[i + k] * factor);
  }
}
template <class S, class T = Compute<S>>
CLONES_512 T parted_sum_exp(const S* x, Index n, T& top) {
  T v[kPartedRow];
  return exp_in_parts(x, n, v, top);
}
// Of a row of any length, in pieces between which Ctrl-C is answered.
template <class S, class T = Compute<S>>
T largest_of_long(const S* x, Index n) {
  T top = -std::numeric_limits<T>::infinity();
  serial_for(n, [&](Index i, Index end) { top = std::max(top, largest(x + i, end - i)); });
  return top;
}
// The sum of f(begin, end) over the pieces.
template <class T, class F>
T sum_of_pieces(Index n, const F& f) {
  T sum = 0;
  serial_for(n, [&](Index i, Index end) { sum += f(i, end); });
  return sum;
}
// Sum of exp(x - top) for the largest x as `top`.
template <class S, class T>
T sum_exp_below_top(const S* x, Index n, T& top) {
  if (is_parted(n)) return parted_sum_exp(x, n, top);
  if (n < kPartedRow) {
    top = largest(x, n);
    return sum_exp(x, n, top);
  }
  top = largest_of_long(x, n);
  return sum_of_pieces<T>(n, [&](Index i, Index end) { return sum_exp(x + i, end - i, top); });
}

template <class S, class T = Compute<S>>
CLONES_512 void multiply(const T* x, Index n, T factor, S* y) {
  for (Index i = 0; i < n; ++i) store(y + i, x[i] * factor);
}
template <class S, class T = Compute<S>>
CLONES_512 void subtract(const S* __restrict x, Index n, T top, T log_sum, S* __restrict y) {
  for (Index i = 0; i < n; ++i) store(y + i, load(x + i) - top - log_sum);
}

// Sum of g, or of g * y where y is given.
template <class S, class T = Compute<S>>
CLONES_512 T sum_grad(const S* g, const S* y, Index n) {
  return y ? sum_in_lanes<T>(n, [&](Index i) -> T { return load(g + i) * load(y + i); })
           : sum_in_lanes<T>(n, [&](Index i) -> T { return load(g + i); });
}
template <class S, class T = Compute<S>>
CLONES_512 void softmax_grad(const S* __restrict g, const S* __restrict y, Index n, T sum,
                             S* __restrict out) {
  for (Index i = 0; i < n; ++i) store(out + i, load(y + i) * (load(g + i) - sum));
}
template <class S, class T = Compute<S>>
CLONES_512 void log_softmax_grad(const S* __restrict g, const S* __restrict y, Index n, T sum,
                                 S* __restrict out) {
  for (Index i = 0; i < n; ++i) store(out + i, load(g + i) - negative_exp(load(y + i)) * sum);
}

// Cross entropy's gradient before the target's own part: factor * exp(x - top - log_sum) - share *
// w.
template <class S, class T = Compute<S>>
CLONES_512 void probability_grad(const S* __restrict x, Index n, T top, T log_sum, T factor,
                                 T share, const T* __restrict w, S* __restrict out) {
  if (share == T(0))
    for (Index i = 0; i < n; ++i)
      store(out + i, negative_exp(load(x + i) - top - log_sum) * factor);
  else
    for (Index i = 0; i < n; ++i)
      store(out + i, negative_exp(load(x + i) - top - log_sum) * factor - share * w[i]);
}

}  // namespace rushlight::rows
