// Sorting keys with their indices in many lines at once: all of them by key, as one run, then by
// line. The second sort keeps the order of the first within a line, and has few bits to look at.
// For keys of 64 bits that costs little more than sorting each line by itself.
#include "pairs.h"
#include "radix_sort.h"

namespace rushlight::gpu {
namespace {

__global__ void number_items(Index n, Index* order) {
  for (Index i = first_item(); i < n; i += stride()) order[i] = i;
}

__global__ void line_keys(Index n, Index length, const Index* order, std::uint64_t* keys) {
  for (Index i = first_item(); i < n; i += stride()) keys[i] = std::uint64_t(order[i] / length);
}

__global__ void take_in_order(Index n, const Index* order, const std::uint64_t* keys,
                              const Index* indices, std::uint64_t* sorted_keys,
                              Index* sorted_indices) {
  for (Index i = first_item(); i < n; i += stride()) {
    sorted_keys[i] = keys[order[i]];
    sorted_indices[i] = indices[order[i]];
  }
}

template <class T>
void copy_items(T* to, const T* from, Index n) {
  if (to != from)
    check(
        cudaMemcpyAsync(to, from, std::size_t(n) * sizeof(T), cudaMemcpyDefault, current().stream),
        "sort");
}

}  // namespace

void sort_pairs(std::uint64_t* keys, Index* indices, Index lines, Index length, int bits) {
  const Index n = lines * length;
  const Scratch<std::uint64_t> more_keys(n, "sort");
  const Scratch<Index> more_indices(n, "sort");
  if (lines == 1) {
    Buffers<std::uint64_t> k = {keys, more_keys.data()};
    Buffers<Index> p = {indices, more_indices.data()};
    radix_sort(k, p, n, bits);
    copy_items(keys, k.now, n);
    copy_items(indices, p.now, n);
    return;
  }
  const Scratch<std::uint64_t> other_keys(n, "sort");
  const Scratch<Index> other_indices(n, "sort");
  Buffers<std::uint64_t> k = {more_keys.data(), other_keys.data()};
  Buffers<Index> order = {more_indices.data(), other_indices.data()};
  copy_items(k.now, keys, n);
  launch_items("sort", number_items, n, n, order.now);
  radix_sort(k, order, n, bits);
  launch_items("sort", line_keys, n, n, length, order.now, k.now);
  radix_sort(k, order, n, bits_below(lines));
  launch_items("sort", take_in_order, n, n, order.now, keys, indices, k.now, order.other);
  copy_items(keys, k.now, n);
  copy_items(indices, order.other, n);
}

}  // namespace rushlight::gpu
