// Sorting by CUB: a radix sort of one long run, or a segmented sort of many.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "sort_pairs.h"

namespace rushlight::gpu {
namespace {

struct RunStart {
  Index length;
  HOST_DEVICE Index operator()(Index line) const { return line * length; }
};

}  // namespace

void sort_pairs(std::uint64_t* keys, Index* places, Index lines, Index length) {
  const Index n = lines * length;
  const Scratch<std::uint64_t> other_keys(n, "sort");
  const Scratch<Index> other_places(n, "sort");
  cub::DoubleBuffer<std::uint64_t> k(keys, other_keys.data());
  cub::DoubleBuffer<Index> p(places, other_places.data());
  const auto starts =
      thrust::make_transform_iterator(thrust::make_counting_iterator(Index(0)), RunStart{length});
  const auto sort = [&](void* scratch, std::size_t& bytes) {
    if (lines == 1)
      return cub::DeviceRadixSort::SortPairs(scratch, bytes, k, p, n, 0, 64, current().stream);
    return cub::DeviceSegmentedSort::StableSortPairs(scratch, bytes, k, p, n, lines, starts,
                                                     starts + 1, current().stream);
  };
  std::size_t bytes = 0;
  check(sort(nullptr, bytes), "sort");
  const Scratch<char> scratch(Index(bytes), "sort");
  finish_launch(sort(scratch.data(), bytes), "sort");
  const auto copy = [&](void* to, const void* from) {
    if (to != from)
      check(cudaMemcpyAsync(to, from, std::size_t(n) * 8, cudaMemcpyDefault, current().stream),
            "sort");
  };
  copy(keys, k.Current());
  copy(places, p.Current());
}

}  // namespace rushlight::gpu
