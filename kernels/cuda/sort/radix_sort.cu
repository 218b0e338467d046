// CUB's radix sort, in a file of its own: its headers alone take seconds to compile.
#include <cub/device/device_radix_sort.cuh>

#include "radix_sort.h"

namespace rushlight::gpu {

void radix_sort(Buffers<std::uint64_t>& keys, Buffers<Index>& indices, Index n, int bits) {
  cub::DoubleBuffer<std::uint64_t> k(keys.now, keys.other);
  cub::DoubleBuffer<Index> p(indices.now, indices.other);
  const auto sort = [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, k, p, n, 0, bits, current().stream);
  };
  std::size_t bytes = 0;
  check(sort(nullptr, bytes), "sort");
  const Scratch<char> scratch(Index(bytes), "sort");
  finish_launch(sort(scratch.data(), bytes), "sort");
  keys = {k.Current(), k.Alternate()};
  indices = {p.Current(), p.Alternate()};
}

}  // namespace rushlight::gpu
