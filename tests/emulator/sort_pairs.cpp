// In place of kernels/cuda/sort_pairs.cu, which is CUB's: the host's stable sort.
#include "kernels/cuda/sort_pairs.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace rushlight::gpu {

void sort_pairs(std::uint64_t* keys, Index* places, Index lines, Index length) {
  if (lines <= 0 || length <= 0) std::abort();  // CUB's own condition on its arguments
  std::vector<std::pair<std::uint64_t, Index>> run(static_cast<std::size_t>(length));
  for (Index line = 0; line < lines; ++line) {
    for (Index i = 0; i < length; ++i)
      run[std::size_t(i)] = {keys[line * length + i], places[line * length + i]};
    std::stable_sort(run.begin(), run.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (Index i = 0; i < length; ++i) {
      keys[line * length + i] = run[std::size_t(i)].first;
      places[line * length + i] = run[std::size_t(i)].second;
    }
  }
}

}  // namespace rushlight::gpu
