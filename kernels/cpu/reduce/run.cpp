// The walks behind run.h: by lines, or by rows where outputs lie side by side.
#include "run.h"

#include <vector>

#include "kernels/cpu/gaps.h"
#include "kernels/cpu/short_rows.h"

namespace rushlight::reduction {
namespace {

const char* at(const void* base, std::int64_t elements, std::size_t item) {
  return static_cast<const char*>(base) + elements * std::int64_t(item);
}

// Neighbours so far from each other that a line of the cache has several.
constexpr int kNear = 4;
// Outputs worth being taken side by side though each row is dense: its elements are brought apart.
constexpr int kMany = 16;

// Adds the reduced elements [first, last) of more than one axis.
template <class Total>
void add_line_by_line(const Job& job, const Steps<Total>& steps, Lines lines, std::int64_t first,
                      std::int64_t last, Interruptible& interruptible, Total* totals) {
  const std::int64_t length = job.reduced.axis[0].size;
  std::int64_t offsets[kRows];
  lines.offsets = offsets;
  lines.begin = first % length;
  Cursor line(job.reduced, 1, first / length);
  for (std::int64_t i = first; i < last; lines.begin = 0) {
    lines.end = std::min(length, lines.begin + last - i);
    const std::int64_t taken = lines.end - lines.begin;
    lines.lines = taken < length ? 1 : int(std::min<std::int64_t>(kRows, (last - i) / length));
    line.take(job.reduced, 1, lines.lines, offsets);
    steps.add_lines(job, lines, interruptible, totals);
    i += taken * lines.lines;
  }
}

// Dense lines of a few elements, brought together for an output at a time.
constexpr std::int64_t kShortLine = 64;
template <class Total>
void add_short_lines(const Job& job, const Steps<Total>& steps, const Lines& lines,
                     Interruptible& interruptible, Total* totals) {
  const Axis inner = job.reduced.axis[0], next = job.reduced.axis[1];
  const auto item = std::int64_t(steps.item), bytes = inner.size * item;
  alignas(64) char together[kBlock * 8];
  const std::int64_t most = kBlock / inner.size, all = job.reduced.numel / inner.size, nowhere = 0;
  for (std::int64_t k = 0; k < lines.count; ++k) {
    Cursor line(job.reduced, 1, 0);
    const char* const base = at(lines.first, k * lines.apart, steps.item);
    for (std::int64_t done = 0; done < all;) {
      std::int64_t held = 0;
      while (held < most && done + held < all) {
        const std::int64_t n = std::min({most - held, all - done - held, next.size - line.at[1]});
        copy_rows(together + held * bytes, bytes, at(base, line.offset, steps.item),
                  next.stride * item, n, bytes);
        held += n;
        line.skip(job.reduced, 1, n);
      }
      const Lines run{.first = together,
                      .apart = 0,
                      .count = 1,
                      .output = lines.output + k,
                      .offsets = &nowhere,
                      .lines = 1,
                      .stride = 1,
                      .begin = 0,
                      .end = held * inner.size};
      steps.add_lines(job, run, interruptible, totals + k);
      done += held;
    }
  }
}

// Totals of outputs [from, to), of the reduced elements [first, last).
template <class Total>
void totals_by_line(const Job& job, const Steps<Total>& steps, std::int64_t from, std::int64_t to,
                    std::int64_t first, std::int64_t last, Total* totals) {
  std::fill_n(totals, to - from, steps.init);
  if (first == last) return;
  static const Axis kPoint{1, 1, 0};
  const Axis side = job.kept.rank ? job.kept.axis[0] : kPoint;
  const std::int64_t stride = job.reduced.rank ? job.reduced.axis[0].stride : 1, nowhere = 0;
  const bool has_short_lines = job.reduced.rank > 1 && stride == 1 && first == 0 &&
                               last == job.reduced.numel && job.reduced.axis[0].size < kShortLine;
  Interruptible interruptible;
  Cursor out(job.kept, 0, from);
  for (std::int64_t o = from; o < to;) {
    const std::int64_t count = std::min(side.size - out.at[0], to - o);
    const Lines lines{.first = at(job.in, out.offset, steps.item),
                      .apart = side.stride,
                      .count = count,
                      .output = o,
                      .offsets = &nowhere,
                      .lines = 1,
                      .stride = stride,
                      .begin = first,
                      .end = last};
    if (job.reduced.rank <= 1)
      steps.add_lines(job, lines, interruptible, totals + (o - from));
    else if (has_short_lines)
      add_short_lines(job, steps, lines, interruptible, totals + (o - from));
    else
      add_line_by_line(job, steps, lines, first, last, interruptible, totals + (o - from));
    o += count;
    out.skip(job.kept, 0, count);
  }
}

// Whether outputs lie side by side in narrow rows, one behind another.
constexpr std::int64_t kNarrow = 16, kWide = 64;
constexpr std::int64_t kFewRows = 8, kSetColumns = 256;
template <class Total>
bool has_wide_rows(const Job& job, const Steps<Total>& steps) {
  return job.kept.rank && job.kept.axis[0].stride == 1 && job.kept.axis[0].size <= kNarrow &&
         job.reduced.rank == 1 && job.reduced.axis[0].stride == job.kept.axis[0].size &&
         !steps.is_centered;
}

// Totals of such rows, taken as fewer wide ones; returns how many rows those were.
template <class Total>
std::int64_t totals_by_wide_row(const Job& job, const Steps<Total>& steps, const char* first,
                                std::int64_t rows, int n, std::int64_t output, Total* totals) {
  const std::int64_t wide_rows = (rows * n + kWide - 1) / kWide, folded = rows / wide_rows;
  const int width = int(folded * n);
  alignas(64) std::int64_t lanes[kWide], offsets[kRows];
  Total columns[kWide];
  Interruptible interruptible;
  for (std::int64_t i = 0; i < wide_rows; i += kRows) {
    const int count = int(std::min<std::int64_t>(kRows, wide_rows - i));
    for (int r = 0; r < count; ++r) offsets[r] = (i + r) * width;
    steps.start(lanes, width);
    steps.add_rows(job, {first, offsets, count, width, output}, lanes);
    steps.join_lanes(columns, lanes, width, i == 0);
    interruptible.done(count * width);
  }
  steps.fold(totals, columns, n, int(folded));
  return wide_rows * folded;
}

// Outputs in narrow rows, of few elements each: those of `sets` neighbouring rows, for which the
// r-th elements are brought together, as one row.
template <class Total>
void totals_by_sets(const Job& job, const Steps<Total>& steps, const char* first, std::int64_t sets,
                    std::int64_t o, std::int64_t begin, std::int64_t end, Total* totals) {
  const auto item = std::int64_t(steps.item);
  const std::int64_t width = job.kept.axis[0].size, far = job.kept.axis[1].stride * item;
  const int n = int(sets * width), rows = int(end - begin);
  alignas(64) std::int64_t lanes[kColumns], dense[kFewRows * kSetColumns];
  std::int64_t offsets[kFewRows], in_dense[kFewRows];
  Cursor(job.reduced, 0, begin).take(job.reduced, 0, rows, offsets);
  for (int r = 0; r < rows; ++r) {
    in_dense[r] = r * n;
    copy_rows(reinterpret_cast<char*>(dense) + in_dense[r] * item, width * item,
              at(first, offsets[r], steps.item), far, sets, width * item);
  }
  steps.start(lanes, n);
  steps.add_rows(job, {dense, in_dense, rows, n, o}, lanes);
  steps.join_lanes(totals, lanes, n, true);
}

// The same where outputs lie side by side: whole rows are added, lane by lane.
template <class Total>
void totals_by_row(const Job& job, const Steps<Total>& steps, std::int64_t from, std::int64_t to,
                   std::int64_t first, std::int64_t last, Total* totals) {
  if (first == last) return void(std::fill_n(totals, to - from, steps.init));
  const std::int64_t width = job.kept.axis[0].size, apart = job.kept.axis[0].stride;
  constexpr std::int64_t kInCache = 256;
  const std::int64_t most = apart <= kNear ? kColumns : kInCache;
  alignas(64) std::int64_t lanes[kColumns], dense[kTogether * kColumns];
  const bool has_wide = last - first > 1 && has_wide_rows(job, steps);
  const bool in_sets = apart == 1 && width <= kNarrow && last - first <= kFewRows &&
                       job.kept.rank > 1 && job.kept.axis[1].size > 1;
  for (std::int64_t o = from; o < to;) {
    const std::int64_t column = o % width;
    const int n = static_cast<int>(std::min({most, width - column, to - o}));
    const char* const base =
        at(job.in, Cursor(job.kept, 1, o / width).offset + column * apart, steps.item);
    if (in_sets && n == width) {
      const std::int64_t left = job.kept.axis[1].size - o / width % job.kept.axis[1].size;
      const std::int64_t sets = std::min({left, (to - o) / width, kSetColumns / width});
      totals_by_sets(job, steps, base, sets, o, first, last, totals + (o - from));
      o += sets * width;
      continue;
    }
    std::int64_t i = first;
    if (has_wide && n == width)
      i += totals_by_wide_row(job, steps, at(base, first * n, steps.item), last - first, n, o,
                              totals + (o - from));
    if (i == last) {
      o += n;
      continue;
    }
    Cursor row(job.reduced, 0, i);
    Interruptible interruptible;
    for (; i < last; i += kRows) {
      const int rows = int(std::min<std::int64_t>(kRows, last - i));
      interruptible.done(rows * n);
      std::int64_t offsets[kRows];
      row.take(job.reduced, 0, rows, offsets);
      steps.start(lanes, n);
      if (apart == 1) {
        steps.add_rows(job, {base, offsets, rows, n, o}, lanes);
      } else {
        for (int first_row = 0; first_row < rows; first_row += kTogether) {
          const int held = std::min(kTogether, rows - first_row);
          std::int64_t in_dense[kTogether];
          for (int r = 0; r < held; ++r) {
            in_dense[r] = r * n;
            bring_together(reinterpret_cast<char*>(dense) + r * n * std::int64_t(steps.item),
                           at(base, offsets[first_row + r], steps.item), steps.item, apart, n);
          }
          steps.add_rows(job, {dense, in_dense, held, n, o}, lanes);
        }
      }
      steps.join_lanes(totals + (o - from), lanes, n, i == first);
    }
    o += n;
  }
}

}  // namespace

// Wrapped integers are read as signed ones.
template <class O, class Total>
[[gnu::always_inline]] inline Compute<O> value_of(Total total) {
  using Value = std::conditional_t<std::is_integral_v<Total>, std::int64_t, Total>;
  return convert<Compute<O>>(static_cast<Value>(total));
}
template <class O, class Total>
CLONES void write_dense(O* to, const Total* totals, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) store(to + k, value_of<O>(totals[k]));
}

template <class Total>
void write(const Job& job, std::int64_t from, const Total* totals, std::int64_t n) {
  if constexpr (std::is_same_v<Total, double>)
    if (job.to_center) return void(std::copy_n(totals, n, job.to_center + from));
  dispatch_all(job.out_dtype, [&]<class O>(Type<O>) {
    Cursor at(job.kept, 0, from);
    const Axis inner = job.kept.rank ? job.kept.axis[0] : Axis{1, 0, 0};
    for (std::int64_t i = 0; i < n;) {
      const std::int64_t count = std::min(inner.size - at.at[0], n - i);
      O* const to = static_cast<O*>(job.out) + at.out;
      if (inner.out == 1)
        write_dense(to, totals + i, count);
      else
        for (std::int64_t k = 0; k < count; ++k)
          store(to + k * inner.out, value_of<O>(totals[i + k]));
      at.skip(job.kept, 0, count), i += count;
    }
  });
}

template void write(const Job&, std::int64_t, const double*, std::int64_t);
template void write(const Job&, std::int64_t, const std::int64_t*, std::int64_t);
template void write(const Job&, std::int64_t, const std::uint64_t*, std::int64_t);

// Calls finish(job, from, totals, n) for ranges of outputs.
template <class Total>
void run(const Job& job, const Steps<Total>& steps) {
  const std::int64_t outputs = job.kept.numel, count = job.reduced.numel;
  const std::int64_t apart = job.kept.rank ? job.kept.axis[0].stride : 0;
  const bool by_row =
      has_wide_rows(job, steps) ||
      (apart > 0 && apart <= kNear && job.kept.axis[0].size >= 4 &&
       !(job.reduced.rank && job.reduced.axis[0].stride > 0 &&
         job.reduced.axis[0].stride <= apart)) ||
      (apart > 0 && apart <= kFewLanes && count < steps.few && job.kept.axis[0].size >= kMany);
  const auto add = [&](std::int64_t from, std::int64_t to, std::int64_t first, std::int64_t last,
                       Total* totals) {
    (by_row ? totals_by_row<Total> : totals_by_line<Total>)(job, steps, from, to, first, last,
                                                            totals);
  };
  if (outputs > 1 && job.kept.is_one_element()) {  // which all read the same elements
    Total one, sums[kColumns];
    Interruptible interruptible;
    add(0, 1, 0, count, &one);
    for (std::int64_t o = 0; o < outputs; o += kColumns) {
      const std::int64_t n = std::min<std::int64_t>(kColumns, outputs - o);
      std::fill_n(sums, n, one);
      steps.finish(job, o, sums, n);
      interruptible.done(n);
    }
    return;
  }
  if (outputs <= kColumns && outputs * count <= kBlock) {
    Total sums[kColumns];
    add(0, outputs, 0, count, sums);
    return steps.finish(job, 0, sums, outputs);
  }
  constexpr std::int64_t grain = 1 << 15;
  const int threads = num_threads();
  if (threads > 1 && outputs < threads * (by_row ? kColumns : 4) && count * outputs > 2 * grain) {
    constexpr std::int64_t kJoined = 4096;  // totals, one by one, which takes longer than adding
    const std::int64_t most = std::max<std::int64_t>(threads, kJoined / outputs);
    const std::int64_t pieces = std::min({std::int64_t(64), most, count * outputs / grain});
    std::vector<Total> sums(static_cast<std::size_t>(pieces * outputs));
    parallel_for(pieces, 1, [&](std::int64_t a, std::int64_t b) {
      for (; a < b; ++a)
        add(0, outputs, count * a / pieces, count * (a + 1) / pieces,
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
      add(o, end, 0, count, sums);
      steps.finish(job, o, sums, end - o);
    }
  });
}

template void run(const Job&, const Steps<double>&);
template void run(const Job&, const Steps<std::int64_t>&);
template void run(const Job&, const Steps<std::uint64_t>&);

}  // namespace rushlight::reduction
