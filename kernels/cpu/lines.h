// Lines: all rows along one dimension of several views of the same other sizes.
#pragma once
#include <algorithm>
#include <array>

#include "../parallel.h"
#include "../view.h"

namespace rushlight {

template <int N>
struct Lines {
  int rank = 0;
  std::int64_t count = 1, sizes[kMaxRank];
  std::int64_t strides[N][kMaxRank], along[N];  // along: the strides of the lines themselves

  Lines(int dim, const std::array<const View*, N>& views) {
    const View& first = *views[0];
    for (int n = 0; n < N; ++n) along[n] = first.rank ? views[n]->strides[dim] : 1;
    for (int d = first.rank - 1; d >= 0; --d) {
      if (d == dim || first.sizes[d] == 1) continue;
      count *= first.sizes[d];
      sizes[rank] = first.sizes[d];
      for (int n = 0; n < N; ++n) strides[n][rank] = views[n]->strides[d];
      ++rank;
    }
  }
  // Calls line(offsets) for each, on the pool; a line has about `work` elements.
  template <class F>
  void each(std::int64_t work, F&& line) const {
    const std::int64_t grain =
        std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, work));
    parallel_for(count, grain, [&](std::int64_t from, std::int64_t to) {
      for (; from < to; ++from) {
        std::array<std::int64_t, N> offsets{};
        std::int64_t rest = from;
        for (int d = 0; d < rank; ++d) {
          const std::int64_t at = rest % sizes[d];
          rest /= sizes[d];
          for (int n = 0; n < N; ++n) offsets[n] += at * strides[n][d];
        }
        line(offsets);
      }
    });
  }
};

}  // namespace rushlight
