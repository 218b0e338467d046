// Distinct rows: rows are sorted column by column, and each that differs from the one before begins
// a group.
#include "kernels/cuda/elements.h"
#include "kernels/cuda/running_sums.h"
#include "keys.h"
#include "pairs.h"
#include "sort.h"

namespace rushlight::gpu {
namespace {

__global__ void number_rows(Index n, Index* order) {
  for (Index i = first_item(); i < n; i += stride()) order[i] = i;
}

// The keys of one column, in the order that the rows have so far.
template <class C>
__global__ void column_keys(Index n, Reader<C> in, Index row_step, Index at, const Index* order,
                            std::uint64_t* keys) {
  for (Index i = first_item(); i < n; i += stride())
    keys[i] = sort_key(in[order[i] * row_step + at]);
}

// begins[i]: whether the i-th row differs from the one before. A NaN differs from itself.
template <class C>
__global__ void mark_begins(Index n, Index width, Reader<C> in, Index row_step, Index column_step,
                            const Index* order, Index* begins) {
  for (Index i = first_item(); i < n; i += stride()) {
    bool same = i > 0;
    for (Index c = 0; same && c < width; ++c)
      same = in[order[i - 1] * row_step + c * column_step] ==
             in[order[i] * row_step + c * column_step];
    begins[i] = !same;
  }
}

// numbers[i] - 1 is the group of the i-th row; counts holds where each group begins, at first.
__global__ void write_groups(Index n, const Index* order, const Index* numbers, Index* first,
                             Index* inverse, Index* counts) {
  for (Index i = first_item(); i < n; i += stride()) {
    const Index group = numbers[i] - 1;
    inverse[order[i]] = group;
    if (i > 0 && numbers[i - 1] == numbers[i]) continue;
    first[group] = order[i];
    counts[group] = i;
  }
}
__global__ void count_groups(Index n, Index groups, const Index* begins, Index* counts) {
  for (Index g = first_item(); g < groups; g += stride())
    counts[g] = (g + 1 < groups ? begins[g + 1] : n) - begins[g];
}

}  // namespace

Index unique(const View& in, bool consecutive, Index* first, Index* inverse, Index* counts) {
  const Index n = in.sizes[0], width = in.sizes[1];
  const Scratch<Index> order(n, "unique"), numbers(n, "unique");
  launch_items("unique", number_rows, n, n, order.data());
  compute_any(in.dtype, [&]<class C>(Type<C>) {
    const Reader<C> x(in);
    if (!consecutive) {  // stable sorts by each column, the first one last
      const Scratch<std::uint64_t> keys(n, "unique");
      for (Index c = width - 1; c >= 0; --c) {
        launch_items("unique", column_keys<C>, n, n, x, in.strides[0], c * in.strides[1],
                     static_cast<const Index*>(order.data()), keys.data());
        sort_pairs(keys.data(), order.data(), 1, n);
      }
    }
    launch_items("unique", mark_begins<C>, n, n, width, x, in.strides[0], in.strides[1],
                 static_cast<const Index*>(order.data()), numbers.data());
  });
  running_sums(numbers.data(), n);
  const Scratch<Index> begins(n, "unique");
  launch_items("unique", write_groups, n, n, static_cast<const Index*>(order.data()),
               static_cast<const Index*>(numbers.data()), first, inverse, begins.data());
  const Index groups = fetch(numbers.data() + n - 1, "unique");
  launch_items("unique", count_groups, groups, n, groups, static_cast<const Index*>(begins.data()),
               counts);
  return groups;
}

}  // namespace rushlight::gpu
