// The loops of all reductions, over elements T with a fold P of reduce_formulas.h. Note:
// whole blocks go into many lanes at once, which are joined into totals of 64 bits.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/cpu/gaps.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/interruptible.h"
#include "run.h"

namespace rushlight::reduction {

// Lanes of a long run; a short one has kFewLanes: of a loop of 16 gcc would make single numbers.
inline constexpr int kLanes = 64;

// n >= N. What is left over is taken by the last lanes, from the last N elements: a loop of any
// other length would write single lanes, for which the next read of a whole vector waits.
template <int N, class P, class T>
[[gnu::always_inline]] inline typename P::Lane run_in_lanes(const T* x, std::int64_t n,
                                                            const P& p) {
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
  for (int half = N / 2; half; half /= 2)
    for (int k = 0; k < half; ++k) lanes[k] = P::join(lanes[k], lanes[k + half]);
  return lanes[0];
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
  if (n >= 16 * kLanes && fits && !P::kLong) return run_in_lanes<kLanes>(x, n, p);
  if (n >= kFewLanes) return run_in_lanes<kFewLanes>(x, n, p);
  return few_of(x, n, p);
}
// Flattened: in a large file gcc would call exp() from the loop instead of inlining it.
template <class P, class T>
[[gnu::flatten]] CLONES typename P::Lane cloned_run(const T* x, std::int64_t n, const P p) {
  return run_of(x, n, p);
}
template <class P, class T>
[[gnu::flatten]] CLONES_512 typename P::Lane cloned_run_512(const T* x, std::int64_t n, const P p) {
  return run_of(x, n, p);
}
// `count` rows into the lanes of n outputs, which are read and written once for all of them.
template <class P, class T>
[[gnu::always_inline]] inline void rows_of(typename P::Lane* __restrict lanes, const T* const* rows,
                                           int count, int n, const Job& job, std::int64_t output) {
  const auto fold = [&](int k) {
    Context context = job.context;
    if constexpr (P::kCentered) context.center = job.center[output + k];
    return P(context);
  };
  if (count == kTogether && !P::kLong) {
    const T* from[kTogether];
    std::copy_n(rows, kTogether, from);
#pragma GCC ivdep
    for (int k = 0; k < n; ++k) {
      const P p = fold(k);
      auto lane = lanes[k];
#pragma GCC unroll 8
      for (int r = 0; r < kTogether; ++r) lane = p.step(lane, load(from[r] + k));
      lanes[k] = lane;
    }
    return;
  }
  int r = 0;
  for (; r + 2 <= count && !P::kLong; r += 2) {
    const T *const a = rows[r], *const b = rows[r + 1];
    for (int k = 0; k < n; ++k) {
      const P p = fold(k);
      lanes[k] = p.step(p.step(lanes[k], load(a + k)), load(b + k));
    }
  }
  for (; r < count; ++r)
    for (int k = 0; k < n; ++k) lanes[k] = fold(k).step(lanes[k], load(rows[r] + k));
}
template <class P, class T>
[[gnu::flatten]] CLONES void cloned_rows(typename P::Lane* lanes, const T* const* rows, int count,
                                         int n, const Job& job, std::int64_t output) {
  rows_of<P>(lanes, rows, count, n, job, output);
}
template <class P, class T>
[[gnu::flatten]] CLONES_512 void cloned_rows_512(typename P::Lane* lanes, const T* const* rows,
                                                 int count, int n, const Job& job,
                                                 std::int64_t output) {
  rows_of<P>(lanes, rows, count, n, job, output);
}
// Copies for several instruction sets only where reductions are hot: they cost compile time.
template <class P, class T>
inline constexpr bool kCloned =
    P::kHot && (sizeof(T) > 2 || std::is_same_v<T, bool> || std::is_same_v<T, bfloat16>);
// exp gains from AVX-512; and only there is an instruction for the greater of two int64, and is a
// select by comparison, as NaN needs it, one step and not three.
template <class P, class T>
inline constexpr bool kFor512 =
    kCloned<P, T> && (P::kLong || (sizeof(T) >= 4 && !P::Join::kRounds));
template <class P, class T>
typename P::Lane dense_run(const T* x, std::int64_t n, const P& p) {
  if constexpr (std::is_same_v<T, float16>) {
    alignas(64) float wide[kBlock];
    widen(wide, x, n);
    return dense_run<P>(static_cast<const float*>(wide), n, p);
  } else {
    if constexpr (!P::kCentered)
      if (n < kFewLanes) return few_of(x, n, p);  // a call through the loader's table takes longer
    if constexpr (kFor512<P, T>)
      return cloned_run_512<P>(x, n, p);
    else if constexpr (kCloned<P, T>)
      return cloned_run<P>(x, n, p);
    else
      return run_of(x, n, p);
  }
}

template <class P, class T>
void add_few_rows(typename P::Lane* lanes, const T* const* rows, int count, int n, const Job& job,
                  std::int64_t output) {
  if constexpr (std::is_same_v<T, float16>) {
    // One after the other: not all in one set of the cache.
    alignas(64) float wide[kTogether][kColumns + 16];
    const float* taken[kTogether];
    for (int r = 0; r < count; ++r) widen(wide[r], rows[r], n), taken[r] = wide[r];
    add_few_rows<P>(lanes, taken, count, n, job, output);
  } else if constexpr (kFor512<P, T>) {
    cloned_rows_512<P>(lanes, rows, count, n, job, output);
  } else if constexpr (kCloned<P, T>) {
    cloned_rows<P>(lanes, rows, count, n, job, output);
  } else {
    rows_of<P>(lanes, rows, count, n, job, output);
  }
}
template <class P, class T>
void add_rows(const Job& job, const Rows& rows, void* lanes) {
  for (int at = 0; at < rows.rows; at += kTogether) {
    const int held = std::min(kTogether, rows.rows - at);
    const T* from[kTogether];
    for (int r = 0; r < held; ++r)
      from[r] = static_cast<const T*>(rows.first) + rows.offsets[at + r];
    add_few_rows<P>(static_cast<typename P::Lane*>(lanes), from, held, rows.n, job, rows.output);
  }
}

// `first`: what the totals were does not count.
template <class Lane, class Total, class P>
CLONES void join_lanes(Total* totals, const void* of_rows, int n, bool first) {
  const Lane* const lanes = static_cast<const Lane*>(of_rows);
  if (first)
    for (int k = 0; k < n; ++k) totals[k] = static_cast<Total>(lanes[k]);
  else
    for (int k = 0; k < n; ++k) totals[k] = P::template join<Total>(totals[k], lanes[k]);
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

// Of the elements [at, end) of a line, after `total`.
template <class P, class T>
typename P::Total line_total(const T* line, std::int64_t stride, std::int64_t at, std::int64_t end,
                             const P& p, typename P::Total total, Interruptible& interruptible) {
  // It takes some time to join lanes. What is brought together and its source stay in the nearest
  // cache.
  constexpr std::int64_t kApart = 512;
  constexpr bool widened = std::is_same_v<T, float16>;
  constexpr std::int64_t kRun = P::kRounds || widened ? kBlock : 8 * kBlock;
  while (at < end) {
    const std::int64_t n = std::min<std::int64_t>(stride == 1 ? kRun : kApart, end - at);
    const T* const x = line + at * stride;
    total = P::template join<typename P::Total>(
        total, stride == 1 ? dense_run<P>(x, n, p) : strided_run<P>(x, stride, n, p));
    at += n;
    interruptible.done(n);
  }
  return total;
}

template <class P, class T>
void add_lines(const Job& job, const Lines& lines, Interruptible& interruptible,
               typename P::Total* totals) {
  const T* base = static_cast<const T*>(lines.first);
  Context context = job.context;
  Interruptible kept = interruptible;  // in a register
  for (std::int64_t k = 0; k < lines.count; ++k, base += lines.apart) {
    if constexpr (P::kCentered) context.center = job.center[lines.output + k];
    const P p(context);
    typename P::Total total = totals[k];
    for (int i = 0; i < lines.lines; ++i)
      total =
          line_total(base + lines.offsets[i], lines.stride, lines.begin, lines.end, p, total, kept);
    totals[k] = total;
  }
  interruptible = kept;
}

template <class R, class Total>
CLONES void finish_all(const Context given, const double* centers, Total* totals, std::int64_t n) {
  Context context = given;
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (!std::is_void_v<typename R::Center>) context.center = centers[i];
    totals[i] = R::finish(totals[i], context);
  }
}
template <class R, class Total>
void finish(const Job& job, std::int64_t from, Total* totals, std::int64_t n) {
  finish_all<R>(job.context, job.center + (job.center ? from : 0), totals, n);
  write(job, from, totals, n);
}

// Of the reduction R, by its fold P.
template <class R, class P, class T, class Lane = typename P::Lane, class Total = typename P::Total>
constexpr Steps<Total> steps_of() {
  return {.item = sizeof(T),
          .few = P::Join::kRounds ? kFewLanes / 2 : kFewLanes,
          .init = Total(P::init()),
          .add_lines = add_lines<P, T>,
          .start = [](void* lanes, int n) { std::fill_n(static_cast<Lane*>(lanes), n, P::init()); },
          .add_rows = add_rows<P, T>,
          .join_lanes = join_lanes<Lane, Total, typename P::Join>,
          .join = P::template join<Total>,
          .finish = finish<R, Total>};
}

void reduce(Reduction which, Job& job, DType dtype);  // of elements of that type

// The reductions of one list; false if `which` is not among them.
template <class L>
bool reduce_one_of(L list, Reduction which, Job& job, DType dtype) {
  return visit(list, which, [&]<class R>(Type<R>) {
    std::vector<double> centers;
    if constexpr (!std::is_void_v<typename R::Center>) {
      centers.resize(static_cast<std::size_t>(job.kept.numel));
      job.to_center = centers.data();
      reduce(kReduction<typename R::Center>, job, dtype);
      job.to_center = nullptr;
      job.center = centers.data();
    }
    const auto of_type = [&]<class E>(Type<E>) {
      // a reduction of truth values may see bytes, of which any but 0 is true
      using T = std::conditional_t<std::is_same_v<E, bool> && R::kOfBytes, std::uint8_t, E>;
      using P = typename R::template Fold<Compute<T>>;
      run(job, steps_of<R, P, T>());
    };
    if constexpr (R::kOnIntegers)
      dispatch_all(dtype, of_type);
    else
      dispatch_floating(dtype, of_type);
  });
}
bool reduce_sums(Reduction which, Job& job, DType dtype);
bool reduce_choices(Reduction which, Job& job, DType dtype);
bool reduce_moments(Reduction which, Job& job, DType dtype);
bool reduce_norms(Reduction which, Job& job, DType dtype);
void extreme(bool largest, const View& values, const View& indices, const View& in, int dim);

}  // namespace rushlight::reduction
