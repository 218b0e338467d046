// Runs of elements side by side, each folded into one lane value in many lanes at once, for one
// instruction set or several.
#pragma once
#include <algorithm>

#include "kernels/cpu/gaps.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/lane_joins.h"
#include "run.h"

namespace rushlight::reduction {

// Lanes of a long run; a short one has kFewLanes: of a loop of 16 gcc would make single numbers.
inline constexpr int kLanes = 64;

template <class P>
using Joined = typename LanesOf<typename P::Lane>::type;
template <class P>
using Positions = std::make_integer_sequence<int, kLanesOf<typename P::Lane>>;

// n >= N elements in the lanes of one vector. What is left over is taken by the last lanes, from
// the last N elements: a loop of any other length would write single lanes, for which the next read
// of a whole vector waits.
template <int N, class P, class T>
[[gnu::always_inline]] inline Joined<P> run_in_lanes(const T* x, std::int64_t n, const P& p) {
  typename P::Lane lanes[N];
  for (int k = 0; k < N; ++k) lanes[k] = P::init();
  std::int64_t i = 0;
  for (; i + N <= n; i += N)
    for (int k = 0; k < N; ++k) lanes[k] = p.step(lanes[k], load(x + i + k));
  if (i < n) {
    const T* const last = x + n - N;
    for (int k = 0; k < N; ++k) {
      const typename P::Lane taken = p.step(lanes[k], load(last + k));
      lanes[k] = k >= N - int(n - i) ? taken : lanes[k];
    }
  }
#pragma GCC unroll 8
  for (int half = N / 2; half >= kLanesOf<typename P::Lane>; half /= 2)
    for (int k = 0; k < half; ++k) lanes[k] = P::join(lanes[k], lanes[k + half]);
  return lanes_at<Joined<P>>(lanes);
}
// A few elements: in four lanes, as each addition waits for the one before.
template <class P, class T>
[[gnu::always_inline]] inline typename P::Lane few_of(const T* x, std::int64_t n, const P& p) {
  typename P::Lane all = P::init();
  std::int64_t i = 0;
  if (n >= 8) {
    typename P::Lane lanes[4] = {P::init(), P::init(), P::init(), P::init()};
    for (; i + 4 <= n; i += 4)
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) lanes[k] = p.step(lanes[k], load(x + i + k));
    all = P::join(P::join(lanes[0], lanes[1]), P::join(lanes[2], lanes[3]));
  }
  for (; i < n; ++i) all = p.step(all, load(x + i));
  return all;
}
// One run of elements into one lane value. Inlined always: the clones would call the copy for the
// oldest processors.
template <class P, class T>
[[gnu::always_inline]] inline typename P::Lane run_of(const T* x, std::int64_t n, const P& p) {
  // AVX2 has registers for all lanes of eight bytes, and for nothing else beside them.
  constexpr bool fits = sizeof(typename P::Lane) < 8 || std::is_same_v<typename P::Join, Adding>;
  if (n < kFewLanes) return few_of(x, n, p);
  const Joined<P> lanes = n >= 16 * kLanes && fits && !P::kLong ? run_in_lanes<kLanes>(x, n, p)
                                                                : run_in_lanes<kFewLanes>(x, n, p);
  return joined_within<P>(lanes, Positions<P>())[0];
}
// Runs of n elements that begin `apart` from each other, each into its lane value. `centers`: one
// for each, where the fold has a center; or none, and that of p is for all.
template <class P, class T>
[[gnu::always_inline]] inline void runs_of(const T* x, std::int64_t apart, std::int64_t count,
                                           std::int64_t n, const P& p, const double* centers,
                                           typename P::Lane* __restrict lanes) {
  const auto fold = [&](std::int64_t k) {
    P one = p;
    if constexpr (P::kCentered)
      if (centers) one.center = decltype(one.center)(centers[k]);
    return one;
  };
  constexpr int kTaken = kLanesOf<typename P::Lane>;
  std::int64_t k = 0;
  for (; n >= kFewLanes && n < 16 * kLanes && k + kTaken <= count; k += kTaken) {
    Joined<P> rows[kTaken];
    for (int r = 0; r < kTaken; ++r)
      rows[r] = run_in_lanes<kFewLanes>(x + (k + r) * apart, n, fold(k + r));
    const Joined<P> joined = joined_across<P>(rows, Positions<P>());
    std::memcpy(lanes + k, &joined, sizeof joined);
  }
  for (; k < count; ++k) lanes[k] = run_of(x + k * apart, n, fold(k));
}
// What follows one another in a function overlaps. Flattened: in a large file gcc would call exp()
// from the loop instead of inlining it.
template <class P, class T>
[[gnu::flatten]] CLONES void cloned_runs(const T* x, std::int64_t apart, std::int64_t count,
                                         std::int64_t n, const P p, const double* centers,
                                         typename P::Lane* lanes) {
  runs_of(x, apart, count, n, p, centers, lanes);
}
template <class P, class T>
[[gnu::flatten]] CLONES_512 void cloned_runs_512(const T* x, std::int64_t apart, std::int64_t count,
                                                 std::int64_t n, const P p, const double* centers,
                                                 typename P::Lane* lanes) {
  runs_of(x, apart, count, n, p, centers, lanes);
}
// Copies for several instruction sets only where reductions are hot: they cost compile time.
template <class P, class T>
inline constexpr bool kCloned =
    P::kHot && (sizeof(T) > 2 || std::is_same_v<T, bool> || std::is_same_v<T, bfloat16>);
// exp gains from AVX-512; only there is an instruction for the greater of two int64, and is a
// select by comparison, as NaN needs it, one step and not three; and 16 of bfloat16 are widened at
// once.
template <class P, class T>
inline constexpr bool kFor512 = kCloned<P, T> && (P::kLong || std::is_same_v<T, bfloat16> ||
                                                  (sizeof(T) >= 4 && !P::Join::kRounds));
template <class P, class T>
void dense_runs(const T* x, std::int64_t apart, std::int64_t count, std::int64_t n, const P& p,
                const double* centers, typename P::Lane* lanes) {
  if constexpr (std::is_same_v<T, float16>) {
    alignas(64) float wide[kBlock];
    const std::int64_t most = std::max<std::int64_t>(1, kBlock / n);
    for (std::int64_t k = 0, taken; k < count; k += taken) {
      taken = std::min(most, count - k);
      if (apart == n)
        widen(wide, x + k * n, taken * n);
      else
        for (std::int64_t r = 0; r < taken; ++r) widen(wide + r * n, x + (k + r) * apart, n);
      dense_runs<P>(static_cast<const float*>(wide), n, taken, n, p,
                    centers ? centers + k : nullptr, lanes + k);
    }
  } else if constexpr (kFor512<P, T>) {
    cloned_runs_512<P>(x, apart, count, n, p, centers, lanes);
  } else if constexpr (kCloned<P, T>) {
    cloned_runs<P>(x, apart, count, n, p, centers, lanes);
  } else {
    runs_of(x, apart, count, n, p, centers, lanes);
  }
}
template <class P, class T>
typename P::Lane dense_run(const T* x, std::int64_t n, const P& p) {
  if constexpr (!P::kCentered && !std::is_same_v<T, float16>)
    if (n < kFewLanes) return few_of(x, n, p);  // a call through the loader's table takes longer
  typename P::Lane lane;
  dense_runs<P>(x, 0, 1, n, p, nullptr, &lane);
  return lane;
}

// Brought together first where there are many: one lane after another waits for each addition.
template <class P, class T>
typename P::Lane strided_run(const T* x, std::int64_t stride, std::int64_t n, const P p) {
  if (n >= kFewLanes) {
    T dense[kBlock];
    bring_together(dense, x, sizeof(T), stride, n);
    return dense_run<P>(static_cast<const T*>(dense), n, p);
  }
  typename P::Lane all = P::init();
  for (std::int64_t i = 0; i < n; ++i) all = p.step(all, load(x + i * stride));
  return all;
}

}  // namespace rushlight::reduction
