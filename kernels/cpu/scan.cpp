// Running sums, products and extremes: one serial pass a line. Sums are held in double, those of
// float16 and bfloat16 in float, as torch's are: each step waits for the one before, and two
// conversions more would be a tenth of it.
#include "../scan.h"

#include <bit>
#include <tuple>

#include "../scan_formulas.h"
#include "half.h"
#include "interruptible.h"
#include "lines.h"
#include "transpose.h"

namespace rushlight {
namespace {

constexpr std::int64_t kColumns = 256;  // lines that are walked side by side
constexpr std::int64_t kShortLine = 64;  // which is walked sooner than cut into pieces
constexpr std::int64_t kTransposed = 32, kSide = 64;  // lines up to this length, so many by so many

template <class T>
constexpr bool kIsHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <class T>
using SumOf = std::conditional_t<kIsHalf<T>, float, scans::SumOf<Compute<T>>>;

// A sum as the type of the elements, as it is stored.
template <class T, class Sum>
[[gnu::always_inline]] inline void put(T* y, Sum sum) {
  if constexpr (std::is_same_v<T, bool>)
    *y = sum != 0;
  else
    store(y, static_cast<Compute<T>>(sum));
}

// One step of n neighbouring lines.
template <class T, class Sum, class Step>
CLONES void step_columns(const T* __restrict x, T* __restrict y, std::int64_t n,
                         Sum* __restrict sums, Step step) {
  if constexpr (std::is_same_v<T, float16> && std::is_same_v<Sum, float>) {
    float wide[kColumns];
    widen(wide, x, n);
    for (std::int64_t c = 0; c < n; ++c) sums[c] = step(sums[c], wide[c]);
    narrow(y, sums, n);
  } else {
    for (std::int64_t c = 0; c < n; ++c) {
      sums[c] = step(sums[c], static_cast<Sum>(load(x + c)));
      put(y + c, sums[c]);
    }
  }
}

// Lines that lie side by side, [outer][line][inner], dense in all tensors; none: they do not.
struct Columns {
  Index outer = 1, length = 0, inner = 1;
};
template <class... V>
Columns columns_of(int dim, const V&... views) {
  Columns c;
  const auto& in = std::get<0>(std::tie(views...));
  const auto step = [&](int d, Index dense) { return ((views.strides[d] == dense) && ...); };
  for (int d = in.rank - 1; d > dim; --d) {
    if (in.sizes[d] != 1 && !step(d, c.inner)) return {};
    c.inner *= in.sizes[d];
  }
  if (c.inner < 8 || !step(dim, c.inner)) return {};
  for (int d = dim - 1; d >= 0; --d) {
    if (in.sizes[d] != 1 && !step(d, in.sizes[dim] * c.inner * c.outer)) return {};
    c.outer *= in.sizes[d];
  }
  c.length = in.sizes[dim];
  return c;
}
// f(at, n): the elements of n neighbouring lines, from their first on, a step after the other.
template <class F>
void each_columns(const Columns& c, F f) {
  const Index pieces = (c.inner + kColumns - 1) / kColumns;
  const Index grain = 1 + (1 << 14) / (c.length * std::min(c.inner, kColumns));
  parallel_for(c.outer * pieces, grain, [&](Index from, Index to) {
    Interruptible interruptible;
    for (; from < to; ++from) {
      const Index first = from % pieces * kColumns;
      f(from / pieces * c.length * c.inner + first, std::min(kColumns, c.inner - first),
        interruptible);
    }
  });
}

template <class T, class Sum, class Step>
bool run_columns(const View& out, const View& in, int dim, Sum start, Step step) {
  const Columns columns = columns_of(dim, in, out);
  if (columns.length == 0) return false;
  each_columns(columns, [&](Index at, Index n, Interruptible& interruptible) {
    Sum sums[kColumns];
    std::fill_n(sums, n, start);
    for (Index i = 0; i < columns.length; ++i, at += columns.inner, interruptible.done(n))
      step_columns(in.as<const T>() + at, out.as<T>() + at, n, sums, step);
  });
  return true;
}

// Many short lines, one behind another: transposed, they are neighbours.
template <class T, class Sum, class Step>
bool run_short_lines(const View& out, const View& in, int dim, Sum start, Step step) {
  const Index n = in.sizes[dim], lines = in.numel / n;
  if (n > (sizeof(T) == 8 ? kTransposed / 4 : kTransposed) || lines < kSide / 4 ||
      dim != in.rank - 1)
    return false;
  for (Index d = dim, dense = 1; d >= 0; dense *= in.sizes[d--])
    if (in.sizes[d] != 1 && (in.strides[d] != dense || out.strides[d] != dense)) return false;
  parallel_for(lines, 1 + (1 << 14) / n, [&](Index from, Index to) {
    T given[std::size_t(kTransposed * kSide)], results[std::size_t(kTransposed * kSide)];
    Sum sums[kSide];
    Interruptible interruptible;
    for (Index m; from < to; from += m) {
      m = std::min(kSide, to - from);
      transpose(in.as<const T>() + from * n, n, m, n, given, m);
      std::fill_n(sums, m, start);
      for (Index i = 0; i < n; ++i) step_columns(given + i * m, results + i * m, m, sums, step);
      transpose(results, m, n, m, out.as<T>() + from * n, n);
      interruptible.done(m * n);
    }
  });
  return true;
}

// Steps [begin, end) of `count` lines, taken by turns: each waits for the one before in its line.
template <int count, class T, class Sum, class Step>
[[gnu::always_inline]] inline void walk(const T* const (&x)[count], T* const (&y)[count],
                                        Sum (&sums)[count], Index begin, Index end, Index from,
                                        Index to, Step step) {
  Sum held[count];  // in registers: copy_n() would put it into memory
#pragma GCC unroll 4
  for (int r = 0; r < count; ++r) held[r] = sums[r];
  for (Index i = begin; i < end; ++i)
#pragma GCC unroll 4
    for (int r = 0; r < count; ++r) {
      held[r] = step(held[r], static_cast<Sum>(load(x[r] + i * from)));
      put(y[r] + i * to, held[r]);
    }
#pragma GCC unroll 4
  for (int r = 0; r < count; ++r) sums[r] = held[r];
}

// The same of dense lines; float16 is widened a block at a time, as gcc would convert it one by
// one.
template <int count, class T, class Sum, class Step>
void walk_dense(const T* const (&x)[count], T* const (&y)[count], Sum (&sums)[count], Index begin,
                Index end, Step step) {
  if constexpr (std::is_same_v<T, float16>) {
    constexpr Index kBlock = 256;
    float wide[count][kBlock];
    const float* from[count];
    float* to[count];
    for (int r = 0; r < count; ++r) from[r] = to[r] = wide[r];
    for (; begin < end; begin += kBlock) {
      const Index m = std::min(kBlock, end - begin);
      for (int r = 0; r < count; ++r) widen(wide[r], x[r] + begin, m);
      walk<count, float>(from, to, sums, 0, m, 1, 1, step);
      for (int r = 0; r < count; ++r) narrow(y[r] + begin, wide[r], m);
    }
  } else {
    walk(x, y, sums, begin, end, 1, 1, step);
  }
}

template <class T, class Sum, class Step>
void run(const View& out, const View& in, int dim, Sum start, Step step) {
  if (in.rank &&
      (run_columns<T>(out, in, dim, start, step) || run_short_lines<T>(out, in, dim, start, step)))
    return;
  const Lines<2> lines(dim, in, out);
  const Index n = lines.length;
  const LineStarts<2> starts(lines);
  const auto walk_lines = [&]<int count>(std::integral_constant<int, count>, Index line) {
    const T* x[count];
    T* y[count];
    Sum sums[count];
    for (int r = 0; r < count; ++r) {
      Index offsets[2];
      starts.at(line + r, offsets);
      x[r] = in.as<const T>() + offsets[0];
      y[r] = out.as<T>() + offsets[1];
      sums[r] = start;
    }
    const auto steps = [&](Index begin, Index end) {
      if (lines.step[0] == 1 && lines.step[1] == 1)
        walk_dense(x, y, sums, begin, end, step);
      else
        walk(x, y, sums, begin, end, lines.step[0], lines.step[1], step);
    };
    if (n <= kShortLine)
      steps(0, n);
    else
      serial_for(n, steps);
  };
  // Where a step takes long, and the processor sees too few lines ahead to do them at once.
  constexpr int kTogether = 4;
  const bool by_turns = std::is_floating_point_v<Sum> && (sizeof(T) < 8 || n >= 256) &&
                        lines.starts.numel >= kTogether * num_threads();
  const Index fewest = by_turns ? kTogether : 1;
  const Index grain = std::max<Index>(fewest, (1 << 14) / std::max<Index>(1, n));
  parallel_for(lines.starts.numel, grain, [&](Index line, Index end) {
    for (; by_turns && line + kTogether <= end; line += kTogether)
      walk_lines(std::integral_constant<int, kTogether>(), line);
    for (; line < end; ++line) walk_lines(std::integral_constant<int, 1>(), line);
  });
}

void scan(Scan kind, const View& out, const View& in, int dim) {
  if (in.numel == 0) return;
  if (kind == Scan::log_sum_exp) {
    return dispatch_floating(in.dtype, [&]<class T>(Type<T>) {
      constexpr double kNothing = -std::numeric_limits<double>::infinity();
      run<T>(out, in, dim, kNothing, scans::LogSumExp());
    });
  }
  dispatch_all(in.dtype, [&]<class T>(Type<T>) {
    using Sum = SumOf<T>;
    if (kind == Scan::sum) return run<T>(out, in, dim, Sum(0), scans::Sum());
    run<T>(out, in, dim, Sum(1), scans::Product());
  });
}

// The extreme so far and its index, over pieces of a line. Until there is a NaN, each step waits
// for one instruction of the step before: the larger of two.
template <bool largest, class T>
class RunningExtreme {
 public:
  explicit RunningExtreme(const T* x) : best_(load(x)) {}
  // Elements [i, end) of a line; y and where are its results.
  [[gnu::always_inline]] inline void walk(std::int64_t i, std::int64_t end, const T* x,
                                          std::int64_t x_step, T* y, std::int64_t y_step,
                                          std::int64_t* where, std::int64_t where_step) {
    auto best = best_;
    std::int64_t at = at_;
    const auto put = [&] {
      if constexpr (std::is_same_v<T, bfloat16>)  // one of the elements: nothing is rounded
        y[i * y_step].bits = std::uint16_t(std::bit_cast<std::uint32_t>(best) >> 16);
      else
        store(y + i * y_step, best);
      where[i * where_step] = at;
    };
    const std::int64_t before_nan = best == best ? end : i;
    for (; i < before_nan; ++i) {
      const auto now = load(x + i * x_step);
      if (now != now) break;
      at = (largest ? now >= best : now <= best) ? i : at;
      best = (largest ? best > now : best < now) ? best : now;
      put();
    }
    for (; i < end; ++i) {
      const auto now = load(x + i * x_step);
      if (scans::now_is_better(now, best, largest)) best = now, at = i;
      put();
    }
    best_ = best, at_ = at;
  }

 private:
  decltype(load(static_cast<const T*>(nullptr))) best_;
  std::int64_t at_ = 0;
};

// Step i of n neighbouring lines, of which `best` and `places` are the extremes so far.
template <bool largest, class T, class C>
CLONES void step_extremes(const T* __restrict x, T* __restrict y, Index* __restrict where, Index n,
                          Index i, C* __restrict best, Index* __restrict places) {
  for (Index c = 0; c < n; ++c) {
    const C now = load(x + c), before = best[c];
    const bool is_nan = now != now, was_nan = before != before;
    const bool better = is_nan | (!was_nan & (largest ? now >= before : now <= before));
    best[c] = better ? now : before;
    places[c] = better ? i : places[c];
  }
  for (Index c = 0; c < n; ++c) store(y + c, best[c]);
  std::copy_n(places, n, where);
}
template <bool largest, class T>
bool extremes_of_columns(const View& values, const View& indices, const View& in, int dim) {
  using C = Compute<T>;
  const Columns columns = columns_of(dim, in, values, indices);
  if (columns.length == 0) return false;
  each_columns(columns, [&](Index at, Index n, Interruptible& interruptible) {
    C best[kColumns];
    Index places[kColumns];
    for (Index c = 0; c < n; ++c) best[c] = load(in.as<const T>() + at + c), places[c] = 0;
    for (Index i = 0; i < columns.length; ++i, at += columns.inner, interruptible.done(n))
      step_extremes<largest>(in.as<const T>() + at, values.as<T>() + at, indices.as<Index>() + at,
                             n, i, best, places);
  });
  return true;
}

template <bool largest>
void extreme_of(const View& values, const View& indices, const View& in, int dim) {
  const Lines<3> lines(dim, in, values, indices);
  const auto [x_step, y_step, where_step] = lines.step;
  dispatch_all(in.dtype, [&]<class T>(Type<T>) {
    if (in.rank && extremes_of_columns<largest, T>(values, indices, in, dim)) return;
    each_line(lines, [&](const auto& at) {
      const T* const x = in.as<const T>() + at[0];
      T* const y = values.as<T>() + at[1];
      std::int64_t* const where = indices.as<std::int64_t>() + at[2];
      RunningExtreme<largest, T> running(x);
      serial_for(lines.length, [&](std::int64_t i, std::int64_t end) {
        if (x_step == 1 && y_step == 1 && where_step == 1)
          running.walk(i, end, x, 1, y, 1, where, 1);
        else
          running.walk(i, end, x, x_step, y, y_step, where, where_step);
      });
    });
  });
}

void extreme(bool largest, const View& values, const View& indices, const View& in, int dim) {
  if (in.numel == 0) return;
  largest ? extreme_of<true>(values, indices, in, dim)
          : extreme_of<false>(values, indices, in, dim);
}

}  // namespace
}  // namespace rushlight

const rushlight::ScanKernels rushlight::cpu_scan = {scan, extreme};
