// The loops of all reductions, over elements T with a fold P of reduce_formulas.h. Note:
// whole blocks go into many lanes at once, which are joined into totals of 64 bits.
#pragma once
#include <algorithm>
#include <memory>

#include "kernels/cpu/interruptible.h"
#include "runs.h"

namespace rushlight::reduction {

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

template <class Lane>
CLONES void fill(Lane* lanes, int n, Lane value) {
  for (int k = 0; k < n; ++k) lanes[k] = value;
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

// The last half of the columns into the first, until n are left: each step in vectors.
template <class Total, class Join>
void fold_columns(Total* totals, Total* columns, int n, int folded) {
  while (folded > 1) {
    const int half = folded / 2, rest = folded - half;
    const Total* const other = columns + rest * n;
#pragma GCC ivdep
    for (int k = 0; k < half * n; ++k) columns[k] = Join::join(columns[k], other[k]);
    folded = rest;
  }
  std::copy_n(columns, n, totals);
}

// Dense lines of at most a block: many of them by one call.
template <class P, class T>
void add_runs(const Job& job, const T* x, std::int64_t n, const Lines& lines,
              Interruptible& interruptible, typename P::Total* totals) {
  constexpr std::int64_t kMost = 64;
  typename P::Lane lane[kMost];
  const P p(job.context);
  for (std::int64_t k = 0; k < lines.count; k += kMost) {
    const std::int64_t count = std::min(kMost, lines.count - k);
    dense_runs<P>(x + k * lines.apart, lines.apart, count, n, p,
                  P::kCentered ? job.center + lines.output + k : nullptr, lane);
    for (std::int64_t i = 0; i < count; ++i)
      totals[k + i] = P::template join<typename P::Total>(totals[k + i], lane[i]);
    interruptible.done(count * n);
  }
}
template <class P, class T>
void add_lines(const Job& job, const Lines& lines, Interruptible& interruptible,
               typename P::Total* totals) {
  const T* base = static_cast<const T*>(lines.first);
  constexpr bool taken_together = P::kCentered || std::is_same_v<T, float16>;
  if (const std::int64_t n = lines.end - lines.begin; lines.lines == 1 && lines.stride == 1 &&
                                                      n > 0 && n <= kBlock &&
                                                      (n >= kFewLanes || taken_together))
    return add_runs<P>(job, base + lines.offsets[0] + lines.begin, n, lines, interruptible, totals);
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
          .start = [](void* lanes, int n) { fill(static_cast<Lane*>(lanes), n, P::init()); },
          .add_rows = add_rows<P, T>,
          .join_lanes = join_lanes<Lane, Total, typename P::Join>,
          .fold = fold_columns<Total, typename P::Join>,
          .is_centered = P::kCentered,
          .join = P::template join<Total>,
          .finish = finish<R, Total>};
}

void reduce(Reduction which, Job& job, DType dtype);  // of elements of that type

// The reductions of one list; false if `which` is not among them.
template <class L>
bool reduce_one_of(L list, Reduction which, Job& job, DType dtype) {
  return visit(list, which, [&]<class R>(Type<R>) {
    std::unique_ptr<double[]> centers;
    if constexpr (!std::is_void_v<typename R::Center>) {
      centers = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(job.kept.numel));
      job.to_center = centers.get();
      reduce(kReduction<typename R::Center>, job, dtype);
      job.to_center = nullptr;
      job.center = centers.get();
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
