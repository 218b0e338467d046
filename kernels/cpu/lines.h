// The loop over lines (kernels/strided.h), on the pool.
#pragma once
#include <algorithm>

#include "../parallel.h"
#include "../strided.h"

namespace rushlight {

// Calls f(offsets) for each line: where it begins in each operand.
template <int N, class F>
void each_line(const Lines<N>& lines, F&& f) {
  const Index grain = std::max<Index>(1, (1 << 14) / std::max<Index>(1, lines.length));
  parallel_for(lines.starts.numel, grain, [&](Index from, Index to) {
    // Of copies, which no line that is written can change: short lines are worth it.
    const bool in_line = lines.starts.rank <= 1;
    Index apart[N];
    for (int k = 0; k < N; ++k) apart[k] = lines.starts.strides[k][0];
    for (; from < to; ++from) {
      Index offsets[N];
      if (in_line)
        for (int k = 0; k < N; ++k) offsets[k] = from * apart[k];
      else
        lines.starts.at(from, offsets);
      f(offsets);
    }
  });
}

}  // namespace rushlight
