// A reduction from the view to the outputs: what walks along axes knows a fold and a dtype by
// functions alone, so that its text is compiled once for each type of totals.
#pragma once
#include "job.h"
#include "kernels/cpu/interruptible.h"

namespace rushlight::reduction {

// Elements of a run, and from how many on it is worth lanes; columns of a row; rows whose lanes are
// joined at last, rows taken together.
inline constexpr int kBlock = 2048, kFewLanes = 32, kColumns = 1024, kRows = 64, kTogether = 8;

// For each of `count` outputs, which are `apart` from each other: elements [begin, end) of some
// lines.
struct Lines {
  const void* first;
  std::int64_t apart, count, output;  // output: the first
  const std::int64_t* offsets;  // of the lines of an output
  int lines;
  std::int64_t stride, begin, end;
};
// Rows of n outputs that lie side by side: a step is taken for all of them, from `output` on.
struct Rows {
  const void* first;
  const std::int64_t* offsets;
  int rows, n;
  std::int64_t output;
};

template <class Total>
struct Steps {
  std::size_t item;  // bytes of an element
  int few;  // rows of fewer elements are quicker side by side, in vectors, than each in its lanes
  Total init;
  void (*add_lines)(const Job& job, const Lines& lines, Interruptible&, Total* totals);
  // Rows go into one lane for each output, of 8 bytes at most.
  void (*start)(void* lanes, int n);
  void (*add_rows)(const Job& job, const Rows& rows, void* lanes);
  void (*join_lanes)(Total* totals, const void* lanes, int n, bool first);
  // Totals of `folded` times n columns, which it overwrites, into those of n.
  void (*fold)(Total* totals, Total* columns, int n, int folded);
  bool is_centered;  // reads what belongs to an output
  Total (*join)(Total, Total);
  void (*finish)(const Job& job, std::int64_t from, Total* totals, std::int64_t n);
};

// For totals of double, int64 and uint64.
template <class Total>
void run(const Job& job, const Steps<Total>& steps);
// Writes the totals of the outputs [from, from + n) wherever those lie.
template <class Total>
void write(const Job& job, std::int64_t from, const Total* totals, std::int64_t n);

}  // namespace rushlight::reduction
