// In place of kernels/cuda/sort/radix_sort.cu, which is CUB's: the host's stable sort. The result
// is left in the other buffers, as CUB may do, and what was sorted is lost.
#include "kernels/cuda/sort/radix_sort.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "kernels/cuda/runtime/launch.h"

namespace rushlight::gpu {

void radix_sort(Buffers<std::uint64_t>& keys, Buffers<Index>& indices, Index n, int bits) {
  if (n <= 0 || bits < 1 || bits > 64) std::abort();
  emulator::give(current().stream, [keys, indices, n, bits] {
    const std::uint64_t mask = ~std::uint64_t(0) >> (64 - bits);
    std::vector<Index> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Index(0));
    std::ranges::stable_sort(order, {}, [&](Index i) { return keys.now[i] & mask; });
    for (Index i = 0; i < n; ++i) {
      keys.other[i] = keys.now[order[std::size_t(i)]];
      indices.other[i] = indices.now[order[std::size_t(i)]];
    }
    std::fill_n(keys.now, n, ~std::uint64_t(0));
    std::fill_n(indices.now, n, Index(-1));
  });
  std::swap(keys.now, keys.other);
  std::swap(indices.now, indices.other);
}

}  // namespace rushlight::gpu
