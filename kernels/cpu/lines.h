// The loop over lines (kernels/strided.h), on the pool.
#pragma once
#include <algorithm>

#include "../parallel.h"
#include "../strided.h"

namespace rushlight {

// Where lines begin in each operand. It copies what it needs, as no line that is written can change
// a copy: short lines are worth it.
template <int N>
class LineStarts {
 public:
  explicit LineStarts(const Lines<N>& lines)
      : starts_(lines.starts), in_line_(lines.starts.rank <= 1) {
    for (int k = 0; k < N; ++k) apart_[k] = lines.starts.strides[k][0];
  }
  void at(Index line, Index (&offsets)[N]) const {
    if (!in_line_) return starts_.at(line, offsets);
    for (int k = 0; k < N; ++k) offsets[k] = line * apart_[k];
  }

 private:
  const Strided<N>& starts_;
  bool in_line_;
  Index apart_[N];
};

// Calls f(offsets) for each line.
template <int N, class F>
void each_line(const Lines<N>& lines, F&& f) {
  const Index grain = std::max<Index>(1, (1 << 14) / std::max<Index>(1, lines.length));
  parallel_for(lines.starts.numel, grain, [&](Index from, Index to) {
    const LineStarts<N> starts(lines);
    for (; from < to; ++from) {
      Index offsets[N];
      starts.at(from, offsets);
      f(offsets);
    }
  });
}

}  // namespace rushlight
