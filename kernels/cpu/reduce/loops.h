// The loops of all reductions, over elements T with a fold P of reduce_formulas.h. Note:
// whole blocks go into many lanes at once, which are joined into totals of 64 bits.
#pragma once
#include <algorithm>
#include <vector>

#include "job.h"
#include "kernels/cpu/gaps.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/interruptible.h"

namespace rushlight::reduction {

// kFewLanes: of a loop of 16 or fewer gcc would make single numbers.
// kNear: of neighbours so far from each other a line of the cache has several.
inline constexpr int kNear = 4;
inline constexpr int kLanes = 64, kFewLanes = 32, kBlock = 2048, kColumns = 1024, kRows = 64;

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
  if (n >= 16 * kLanes && fits) return run_in_lanes<kLanes>(x, n, p);
  if (n >= kFewLanes) return run_in_lanes<kFewLanes>(x, n, p);
  return few_of(x, n, p);
}
// Flattened: in a large file gcc would call exp() from the loop instead of inlining it.
template <class P, class T>
[[gnu::flatten]] CLONES typename P::Lane cloned_run(const T* x, std::int64_t n, const P p) {
  return run_of(x, n, p);
}
// `count` rows into the lanes of n outputs, which are read and written once for eight of them.
inline constexpr int kTogether = 8;
template <class P, class T>
[[gnu::always_inline]] inline void rows_of(typename P::Lane* __restrict lanes, const T* const* rows,
                                           int count, int n, const Job& job, std::int64_t output) {
  const auto fold = [&](int k) {
    Context context = job.context;
    if constexpr (P::kCentered) context.center = job.center[output + k];
    return P(context);
  };
  if (count == kTogether) {
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
  for (; r + 2 <= count; r += 2) {
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
// Three copies for three instruction sets only where reductions are hot: they cost compile time.
template <class P, class T>
inline constexpr bool kCloned =
    P::kHot && (sizeof(T) > 2 || std::is_same_v<T, bool> || std::is_same_v<T, bfloat16>);
template <class P, class T>
typename P::Lane dense_run(const T* x, std::int64_t n, const P& p) {
  if constexpr (std::is_same_v<T, float16>) {
    float wide[kBlock];
    if (widen(wide, x, n)) return dense_run<P>(static_cast<const float*>(wide), n, p);
  }
  if constexpr (!P::kCentered)
    if (n < kFewLanes) return few_of(x, n, p);  // a call through the loader's table takes longer
  if constexpr (kCloned<P, T>)
    return cloned_run<P>(x, n, p);
  else
    return run_of(x, n, p);
}

template <class P, class T>
void add_rows(typename P::Lane* lanes, const T* const* rows, int count, int n, const Job& job,
              std::int64_t output) {
  if constexpr (std::is_same_v<T, float16>) {
    float wide[kTogether][kColumns + 16];  // one after the other: not all in one set of the cache
    const float* taken[kTogether];
    bool is_wide = true;
    for (int r = 0; r < count; ++r) is_wide &= widen(wide[r], rows[r], n), taken[r] = wide[r];
    if (is_wide) return add_rows<P>(lanes, taken, count, n, job, output);
  }
  if constexpr (kCloned<P, T>)
    cloned_rows<P>(lanes, rows, count, n, job, output);
  else
    rows_of<P>(lanes, rows, count, n, job, output);
}

// `first`: what the totals were does not count.
template <class Lane, class Total, class P>
CLONES void join_lanes(Total* totals, const Lane* lanes, int n, bool first) {
  if (first)
    for (int k = 0; k < n; ++k) totals[k] = static_cast<Total>(lanes[k]);
  else
    for (int k = 0; k < n; ++k) totals[k] = P::template join<Total>(totals[k], lanes[k]);
}

template <class P, class T>
[[gnu::noinline]] void add_strided_rows(typename P::Lane* lanes, const T* const* rows,
                                        std::int64_t stride, int count, int n, const Job& job,
                                        std::int64_t output) {
  T dense[kTogether * kColumns];
  const T* taken[kTogether];
  for (int r = 0; r < count; ++r) {
    bring_together(dense + r * kColumns, rows[r], sizeof(T), stride, n);
    taken[r] = dense + r * kColumns;
  }
  add_rows<P>(lanes, taken, count, n, job, output);
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

// Of the elements [at, end) of a line.
template <class P, class T>
[[gnu::always_inline]] inline typename P::Total line_total(const T* line, std::int64_t stride,
                                                           std::int64_t at, std::int64_t end,
                                                           const P& p, typename P::Total total,
                                                           Interruptible& interruptible) {
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

// Totals of outputs [from, to), reduced rows [first, last) of the axes above the innermost.
template <class P, class T>
void totals_by_run(const Job& job, std::int64_t from, std::int64_t to, std::int64_t first,
                   std::int64_t last, typename P::Total* totals) {
  if (first == last) return void(std::fill_n(totals, to - from, typename P::Total(P::init())));
  static const Axis kPoint{1, 1, 0};
  const Axis inner = job.reduced.rank ? job.reduced.axis[0] : kPoint;
  Interruptible interruptible;
  const auto total_of = [&](const T* base, const P& p) {
    typename P::Total total = P::init();
    if (job.reduced.rank <= 1)
      return line_total(base, inner.stride, first, last, p, total, interruptible);
    Cursor row(job.reduced, 1, first / inner.size);
    std::int64_t at = first % inner.size;
    for (std::int64_t i = first; i < last; row.next(job.reduced, 1), at = 0) {
      const std::int64_t end = std::min(inner.size, at + last - i);
      i += end - at;
      total = line_total(base + row.offset, inner.stride, at, end, p, total, interruptible);
    }
    return total;
  };
  Context context = job.context;
  const Axis side = job.kept.rank ? job.kept.axis[0] : kPoint;
  Cursor out(job.kept, 0, from);
  for (std::int64_t o = from; o < to;) {
    const T* base = static_cast<const T*>(job.in) + out.offset;
    const std::int64_t count = std::min(side.size - out.at[0], to - o);
    out.skip(job.kept, count);
    for (const std::int64_t end = o + count; o < end; ++o, base += side.stride) {
      if constexpr (P::kCentered) context.center = job.center[o];
      totals[o - from] = total_of(base, P(context));
    }
  }
}

// The same where outputs lie side by side: whole rows are added, lane by lane.
template <class P, class T>
void totals_by_row(const Job& job, std::int64_t from, std::int64_t to, std::int64_t first,
                   std::int64_t last, typename P::Total* totals) {
  if (first == last) return void(std::fill_n(totals, to - from, typename P::Total(P::init())));
  const std::int64_t width = job.kept.axis[0].size, apart = job.kept.axis[0].stride;
  alignas(64) typename P::Lane lanes[kColumns];
  for (std::int64_t o = from; o < to;) {
    const std::int64_t column = o % width;
    const int n = static_cast<int>(std::min({std::int64_t(kColumns), width - column, to - o}));
    const T* const base =
        static_cast<const T*>(job.in) + Cursor(job.kept, 1, o / width).offset + column * apart;
    typename P::Total* const to_totals = totals + (o - from);
    Cursor row(job.reduced, 0, first);
    Interruptible interruptible;
    for (std::int64_t i = first; i < last;) {
      const bool is_first = i == first;
      interruptible.done(kRows * n);
      std::fill_n(lanes, n, P::init());
      const std::int64_t end = std::min(last, i + kRows);
      while (i < end) {
        const int held = static_cast<int>(std::min<std::int64_t>(kTogether, end - i));
        std::int64_t offsets[kTogether];
        row.take(job.reduced, 0, held, offsets);
        const T* rows[kTogether];
        for (int r = 0; r < held; ++r) rows[r] = base + offsets[r];
        if (apart == 1)
          add_rows<P>(lanes, rows, held, n, job, o);
        else
          add_strided_rows<P>(lanes, rows, apart, held, n, job, o);
        i += held;
      }
      join_lanes<typename P::Lane, typename P::Total, typename P::Join>(to_totals, lanes, n,
                                                                        is_first);
    }
    o += n;
  }
}

// Writes the totals of the outputs [from, from + n) wherever those lie.
template <class Total>
void write(const Job& job, std::int64_t from, const Total* totals, std::int64_t n) {
  if constexpr (std::is_same_v<Total, double>)
    if (job.to_center) return void(std::copy_n(totals, n, job.to_center + from));
  // wrapped integers are read as signed ones
  using Value = std::conditional_t<std::is_integral_v<Total>, std::int64_t, Total>;
  dispatch_all(job.out_dtype, [&]<class O>(Type<O>) {
    const auto value = [&](std::int64_t i) {
      return convert<Compute<O>>(static_cast<Value>(totals[i]));
    };
    Cursor at(job.kept, 0, from);
    const Axis inner = job.kept.rank ? job.kept.axis[0] : Axis{1, 0, 0};
    for (std::int64_t i = 0; i < n;) {
      const std::int64_t count = std::min(inner.size - at.at[0], n - i);
      O* const to = static_cast<O*>(job.out) + at.out;
      if (inner.out == 1)
        for (std::int64_t k = 0; k < count; ++k) store(to + k, value(i + k));
      else
        for (std::int64_t k = 0; k < count; ++k) store(to + k * inner.out, value(i + k));
      at.skip(job.kept, count), i += count;
    }
  });
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

// What run() calls, for a fold and a dtype: so its text is compiled once for each type of totals.
template <class Total>
struct Steps {
  using Add = void(const Job& job, std::int64_t from, std::int64_t to, std::int64_t first,
                   std::int64_t last, Total* totals);
  Add *by_run, *by_row;
  Total (*join)(Total, Total);
  void (*finish)(const Job& job, std::int64_t from, Total* totals, std::int64_t n);
};

// Calls finish(job, from, totals, n) for ranges of outputs.
template <class Total>
void run(const Job& job, const Steps<Total>& steps) {
  const std::int64_t outputs = job.kept.numel, count = job.reduced.numel;
  const std::int64_t apart = job.kept.rank ? job.kept.axis[0].stride : 0;
  const bool by_row =
      apart > 0 && apart <= kNear && job.kept.axis[0].size >= 4 &&
      !(job.reduced.rank && job.reduced.axis[0].stride > 0 && job.reduced.axis[0].stride <= apart);
  const auto add = by_row ? steps.by_row : steps.by_run;
  if (outputs <= kColumns && outputs * count <= kBlock) {
    Total sums[kColumns];
    add(job, 0, outputs, 0, count, sums);
    return steps.finish(job, 0, sums, outputs);
  }
  constexpr std::int64_t grain = 1 << 15;
  const int threads = num_threads();
  if (threads > 1 && outputs < threads * (by_row ? kColumns : 4) && count * outputs > 2 * grain) {
    const std::int64_t pieces = std::min<std::int64_t>(64, count * outputs / grain);
    std::vector<Total> sums(static_cast<std::size_t>(pieces * outputs));
    parallel_for(pieces, 1, [&](std::int64_t a, std::int64_t b) {
      for (; a < b; ++a)
        add(job, 0, outputs, count * a / pieces, count * (a + 1) / pieces,
            &sums[std::size_t(a * outputs)]);
    });
    for (std::int64_t a = 1; a < pieces; ++a)
      for (std::int64_t o = 0; o < outputs; ++o)
        sums[std::size_t(o)] = steps.join(sums[std::size_t(o)], sums[std::size_t(a * outputs + o)]);
    steps.finish(job, 0, sums.data(), outputs);
    return;
  }
  // Parts of rows: as wide as the lanes are, so that much is read of each.
  const std::int64_t fewest = by_row ? kColumns : 1;
  const std::int64_t each = std::max(fewest, grain / std::max<std::int64_t>(1, count));
  parallel_for(outputs, each, [&](std::int64_t from, std::int64_t to) {
    Total sums[kColumns];
    for (std::int64_t o = from; o < to; o += kColumns) {
      const std::int64_t end = std::min<std::int64_t>(to, o + kColumns);
      add(job, o, end, 0, count, sums);
      steps.finish(job, o, sums, end - o);
    }
  });
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
      using Total = typename P::Total;
      run<Total>(job, {.by_run = totals_by_run<P, T>,
                       .by_row = totals_by_row<P, T>,
                       .join = P::template join<Total>,
                       .finish = finish<R, Total>});
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
