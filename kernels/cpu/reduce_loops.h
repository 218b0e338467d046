// The loops of all reductions. A changer must know: a policy P<T> gives what a lane holds and how
// it takes an element; lanes are joined into totals of one of two types, double for floating
// elements and uint64 for integers, so that finishing needs no template.
#pragma once
#include <algorithm>
#include <vector>

#include "../reduce.h"
#include "patience.h"

namespace rushlight::reduction {

struct Axis {
  std::int64_t size, stride, out;  // out: the stride in the output
};
struct Axes {
  int rank = 0;
  Axis axis[kMaxRank];  // innermost first
  std::int64_t numel = 1;
  // Sorted by stride, neighbours merged. What repeats (stride 0) is outermost: runs stay dense.
  void add(Axis a) {
    numel *= a.size;
    int at = rank++;
    const auto farther = [&](const Axis& b) {
      return a.stride && (b.stride > a.stride || !b.stride);
    };
    for (; at > 0 && farther(axis[at - 1]); --at) axis[at] = axis[at - 1];
    axis[at] = a;
  }
  void merge() {
    int kept = rank > 0;
    for (int d = 1; d < rank; ++d) {
      Axis& last = axis[kept - 1];
      if (axis[d].stride == last.stride * last.size && axis[d].out == last.out * last.size) {
        last.size *= axis[d].size;
      } else {
        axis[kept++] = axis[d];
      }
    }
    rank = kept;
  }
};

// A place in the walk along axes [first, rank), moved on by one row at a time.
struct Place {
  std::int64_t at[kMaxRank] = {}, offset = 0, out = 0;
  Place() = default;
  Place(const Axes& a, int first, std::int64_t index) {
    for (int d = first; d < a.rank; ++d) {
      at[d] = index % a.axis[d].size;
      index /= a.axis[d].size;
      offset += at[d] * a.axis[d].stride;
      out += at[d] * a.axis[d].out;
    }
  }
  void next(const Axes& a, int first) {
    for (int d = first; d < a.rank; ++d) {
      offset += a.axis[d].stride;
      out += a.axis[d].out;
      if (++at[d] < a.axis[d].size) return;
      offset -= a.axis[d].stride * a.axis[d].size;
      out -= a.axis[d].out * a.axis[d].size;
      at[d] = 0;
    }
  }
};

struct Job {
  const void* in;
  double parameter;
  Axes kept, reduced;              // outputs are numbered along `kept`
  const double* center = nullptr;  // one for each output, where the policy wants it

  Job(const View& out, const View& input, double p) : in(input.data), parameter(p) {
    for (int d = 0; d < input.rank; ++d) {
      const bool is_kept = out.sizes[d] == input.sizes[d];
      (is_kept ? kept : reduced)
          .add({input.sizes[d], input.strides[d], is_kept ? out.strides[d] : 0});
    }
    kept.merge();
    reduced.merge();
  }
};

// kFewLanes: of a loop of 16 or fewer gcc would make single numbers.
inline constexpr int kLanes = 64, kFewLanes = 32, kBlock = 2048, kColumns = 1024, kRows = 64;

// n >= N. What is left over is taken by the last lanes, from the last N elements: a loop of any
// other length would write single lanes, for which the next read of a whole vector waits.
template <int N, class P, class T>
[[gnu::always_inline]] inline typename P::Lane run_in_lanes(const T* x, std::int64_t n,
                                                            const P& p) {
  typename P::Lane lanes[N];
  for (int k = 0; k < N; ++k) lanes[k] = P::start();
  std::int64_t i = 0;
  for (; i + N <= n; i += N)
    for (int k = 0; k < N; ++k) lanes[k] = p.step(lanes[k], load(x + i + k));
  const T* const last = x + n - N;
  for (int k = 0; k < N; ++k) {
    const typename P::Lane taken = p.step(lanes[k], load(last + k));
    lanes[k] = k >= N - int(n - i) ? taken : lanes[k];
  }
  for (int half = N / 2; half; half /= 2)
    for (int k = 0; k < half; ++k) lanes[k] = P::join(lanes[k], lanes[k + half]);
  return lanes[0];
}
// One run of elements, `n` of them at most kBlock, into one lane value. Inlined always: the clones
// would call the copy for the oldest processors.
template <class P, class T>
[[gnu::always_inline]] inline typename P::Lane run_of(const T* x, std::int64_t n, const P& p) {
  if (n >= 16 * kLanes) return run_in_lanes<kLanes>(x, n, p);
  if (n >= kFewLanes) return run_in_lanes<kFewLanes>(x, n, p);
  typename P::Lane all = P::start();
  for (std::int64_t i = 0; i < n; ++i) all = p.step(all, load(x + i));
  return all;
}
template <class P, class T>
CLONES typename P::Lane cloned_run(const T* x, std::int64_t n, const P p) {
  return run_of(x, n, p);
}
// `count` rows into the lanes of n outputs, which are read and written once for four of them.
inline constexpr int kTogether = 4;
template <class P, class T>
[[gnu::always_inline]] inline void rows_of(typename P::Lane* __restrict lanes, const T* const* rows,
                                           int count, int n, const Job& job, std::int64_t output) {
  const auto policy = [&](int k) { return P(job, output + (P::kCentered ? k : 0)); };
  if (count == kTogether) {
    const T *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
    for (int k = 0; k < n; ++k) {
      const P p = policy(k);
      const auto half = p.step(p.step(lanes[k], load(a + k)), load(b + k));
      lanes[k] = p.step(p.step(half, load(c + k)), load(d + k));
    }
    return;
  }
  for (int r = 0; r < count; ++r)
    for (int k = 0; k < n; ++k) lanes[k] = policy(k).step(lanes[k], load(rows[r] + k));
}
template <class P, class T>
CLONES void cloned_rows(typename P::Lane* lanes, const T* const* rows, int count, int n,
                        const Job& job, std::int64_t output) {
  rows_of<P>(lanes, rows, count, n, job, output);
}
// Three copies for three instruction sets only where reductions are hot: they cost compile time.
template <class P, class T>
inline constexpr bool kCloned =
    P::kHot && (sizeof(T) > 2 || std::is_same_v<T, bool> || !std::is_same_v<Compute<T>, T>);
template <class P, class T>
typename P::Lane dense_run(const T* x, std::int64_t n, const P& p) {
  if constexpr (kCloned<P, T>)
    return cloned_run<P>(x, n, p);
  else
    return run_of(x, n, p);
}

template <class P, class T>
void add_rows(typename P::Lane* lanes, const T* const* rows, int count, int n, const Job& job,
              std::int64_t output) {
  if constexpr (kCloned<P, T>)
    cloned_rows<P>(lanes, rows, count, n, job, output);
  else
    rows_of<P>(lanes, rows, count, n, job, output);
}

template <class P, class T>
typename P::Lane strided_run(const T* x, std::int64_t stride, std::int64_t n, const P p) {
  typename P::Lane all = P::start();
  for (std::int64_t i = 0; i < n; ++i) all = p.step(all, load(x + i * stride));
  return all;
}

// Totals of outputs [from, to), reduced rows [first, last) of the axes above the innermost.
template <class P, class T>
void totals_by_run(const Job& job, std::int64_t from, std::int64_t to, std::int64_t first,
                   std::int64_t last, typename P::Total* totals) {
  if (first == last) return void(std::fill_n(totals, to - from, typename P::Total(P::start())));
  static const Axis kPoint{1, 1, 0};
  const Axis inner = job.reduced.rank ? job.reduced.axis[0] : kPoint;
  Place out(job.kept, 0, from);
  for (std::int64_t o = from; o < to; ++o, out.next(job.kept, 0)) {
    const P p(job, o);
    typename P::Total total = P::start();
    const T* const base = static_cast<const T*>(job.in) + out.offset;
    Place row(job.reduced, 1, first / inner.size);
    std::int64_t at = first % inner.size;
    Patience patience;
    for (std::int64_t i = first; i < last; row.next(job.reduced, 1), at = 0) {
      const std::int64_t end = std::min(inner.size, at + last - i);
      i += end - at;
      while (at < end) {
        const std::int64_t n = std::min<std::int64_t>(kBlock, end - at);
        const T* const x = base + row.offset + at * inner.stride;
        total = P::join_total(total, inner.stride == 1 ? dense_run<P>(x, n, p)
                                                       : strided_run<P>(x, inner.stride, n, p));
        at += n;
        patience.done(n);
      }
    }
    totals[o - from] = total;
  }
}

// The same where the innermost kept axis is dense: whole rows are added, lane by lane.
template <class P, class T>
void totals_by_row(const Job& job, std::int64_t from, std::int64_t to, std::int64_t first,
                   std::int64_t last, typename P::Total* totals) {
  if (first == last) return void(std::fill_n(totals, to - from, typename P::Total(P::start())));
  const std::int64_t width = job.kept.axis[0].size;
  typename P::Lane lanes[kColumns];
  for (std::int64_t o = from; o < to;) {
    const std::int64_t column = o % width;
    const int n = static_cast<int>(std::min({std::int64_t(kColumns), width - column, to - o}));
    const T* const base =
        static_cast<const T*>(job.in) + Place(job.kept, 1, o / width).offset + column;
    typename P::Total* const to_totals = totals + (o - from);
    std::fill_n(to_totals, n, typename P::Total(P::start()));
    Place row(job.reduced, 0, first);
    Patience patience;
    for (std::int64_t i = first; i < last;) {
      patience.done(kRows * n);
      std::fill_n(lanes, n, P::start());
      const std::int64_t end = std::min(last, i + kRows);
      while (i < end) {
        const T* rows[kTogether];
        const int held = static_cast<int>(std::min<std::int64_t>(kTogether, end - i));
        for (int r = 0; r < held; ++r, row.next(job.reduced, 0)) rows[r] = base + row.offset;
        add_rows<P>(lanes, rows, held, n, job, o);
        i += held;
      }
      for (int k = 0; k < n; ++k) to_totals[k] = P::join_total(to_totals[k], lanes[k]);
    }
    o += n;
  }
}

// Calls finish(from, totals, n) for ranges of outputs.
template <class P, class T, class Finish>
void run(const Job& job, Finish&& finish) {
  using Sum = typename P::Total;
  const std::int64_t outputs = job.kept.numel, count = job.reduced.numel;
  const bool by_row = job.kept.rank && job.kept.axis[0].stride == 1 && job.kept.axis[0].size >= 4 &&
                      !(job.reduced.rank && job.reduced.axis[0].stride == 1);
  const auto totals = [&](std::int64_t from, std::int64_t to, std::int64_t first, std::int64_t last,
                          Sum* sums) {
    (by_row ? totals_by_row<P, T> : totals_by_run<P, T>)(job, from, to, first, last, sums);
  };
  constexpr std::int64_t grain = 1 << 15;
  const int threads = num_threads();
  if (threads > 1 && outputs < threads * (by_row ? kColumns : 4) && count * outputs > 2 * grain) {
    const std::int64_t pieces = std::min<std::int64_t>(64, count * outputs / grain);
    std::vector<Sum> sums(static_cast<std::size_t>(pieces * outputs));
    parallel_for(pieces, 1, [&](std::int64_t a, std::int64_t b) {
      for (; a < b; ++a)
        totals(0, outputs, count * a / pieces, count * (a + 1) / pieces,
               &sums[std::size_t(a * outputs)]);
    });
    for (std::int64_t a = 1; a < pieces; ++a)
      for (std::int64_t o = 0; o < outputs; ++o)
        sums[std::size_t(o)] =
            P::join_total(sums[std::size_t(o)], sums[std::size_t(a * outputs + o)]);
    finish(0, sums.data(), outputs);
    return;
  }
  const std::int64_t each = std::max<std::int64_t>(1, grain / std::max<std::int64_t>(1, count));
  parallel_for(outputs, each, [&](std::int64_t from, std::int64_t to) {
    Sum sums[kColumns];
    for (std::int64_t o = from; o < to; o += kColumns) {
      const std::int64_t end = std::min<std::int64_t>(to, o + kColumns);
      totals(o, end, 0, count, sums);
      finish(o, sums, end - o);
    }
  });
}

}  // namespace rushlight::reduction
