// Distinct rows: rows are sorted by groups of columns, the last first, and each that differs from
// the one before begins a group. Of few and wide rows many columns are made one first: each column
// becomes ranks, two neighbouring ranks one number, and so on.
#include "kernels/cuda/elements.h"
#include "kernels/cuda/families.h"
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

// The keys of several columns, one column after the other.
template <class C>
__global__ void keys_by_column(Index columns, Index n, Reader<C> in, Index row_step, Index at,
                               Index column_step, std::uint64_t* keys, Index* order) {
  for (Index i = first_item(); i < columns * n; i += stride()) {
    keys[i] = sort_key(in[i % n * row_step + at + i / n * column_step]);
    order[i] = i % n;
  }
}
__global__ void mark_changes(Index total, Index n, const std::uint64_t* keys, Index* changes) {
  for (Index i = first_item(); i < total; i += stride())
    changes[i] = i % n > 0 && keys[i - 1] != keys[i];
}
__global__ void write_ranks(Index total, Index n, const Index* order, const Index* ranks,
                            std::uint64_t* keys) {
  for (Index i = first_item(); i < total; i += stride())
    keys[i / n * n + order[i]] = std::uint64_t(ranks[i]);
}
// Two columns of ranks as one of keys; the last may be alone.
__global__ void join_columns(Index columns, Index n, const std::uint64_t* ranks,
                             std::uint64_t* keys, Index* order) {
  for (Index i = first_item(); i < (columns + 1) / 2 * n; i += stride()) {
    const Index left = i / n * 2, row = i % n;
    const std::uint64_t high = ranks[left * n + row];
    keys[i] = left + 1 < columns ? high * std::uint64_t(n) + ranks[(left + 1) * n + row] : high;
    order[i] = row;
  }
}
__global__ void take_keys(Index n, const std::uint64_t* all, const Index* order,
                          std::uint64_t* keys) {
  for (Index i = first_item(); i < n; i += stride()) keys[i] = all[order[i]];
}

// As many columns as are joined at once: their elements must fit into memory beside the input, and
// two ranks into a key.
Index group_of(Index n, Index width) {
  constexpr Index kElements = 1 << 20, kWorthwhile = 16;
  const Index group = kElements / n < width ? kElements / n : width;
  return group < kWorthwhile ? 1 : group;
}

// The keys of rows by `columns` columns, in keys[0 .. n): made where keys of each column lie.
void join_all_columns(Index columns, Index n, std::uint64_t* keys, Index* order) {
  const Scratch<std::uint64_t> ranks(columns * n, "unique");
  const Scratch<Index> changes(columns * n, "unique");
  while (columns > 1) {
    const Index total = columns * n;
    sort_pairs(keys, order, columns, n);
    launch_items("unique", mark_changes, total, total, n, keys, changes.data());
    const View lines = {changes.data(), DType::int64, 2, total, {columns, n}, {n, 1}};
    scan_kernels.scan(Scan::sum, lines, lines, 1);
    launch_items("unique", write_ranks, total, total, n, order, changes.data(), ranks.data());
    launch_items("unique", join_columns, (columns + 1) / 2 * n, columns, n, ranks.data(), keys,
                 order);
    columns = (columns + 1) / 2;
  }
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
// The same of wide rows: a block each.
template <class C>
__global__ void mark_wide_begins(Index n, Index width, Reader<C> in, Index row_step,
                                 Index column_step, const Index* order, Index* begins) {
  for (Index i = blockIdx.x; i < n; i += gridDim.x) {
    Index different = i == 0;
    for (Index tile = 0; !different && tile < width; tile += blockDim.x) {
      const Index c = tile + threadIdx.x;
      const bool here = c < width && !(in[order[i - 1] * row_step + c * column_step] ==
                                       in[order[i] * row_step + c * column_step]);
      different = block_reduce(Index(here), Add(), shared_memory<Index>());
    }
    if (threadIdx.x == 0) begins[i] = different > 0;
  }
}

// numbers[i] - 1 is the group of the i-th row; counts holds where each group begins, at first.
__global__ void write_groups(Index n, const Index* order, const Index* numbers, Index* first,
                             Index* inverse, Index* counts) {
  for (Index i = first_item(); i < n; i += stride()) {
    const Index group = numbers[i] - 1;
    if (inverse) inverse[order[i]] = group;
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
    if (!consecutive) {  // stable sorts by each group of columns, the first one last
      const Index group = group_of(n, width);
      const Scratch<std::uint64_t> keys(n, "unique"), joined(group > 1 ? group * n : 1, "unique");
      const Scratch<Index> rows(group > 1 ? group * n : 1, "unique");
      for (Index end = width; end > 0;) {
        const Index count = group < end ? group : end, first_column = end - count;
        if (count == 1) {
          launch_items("unique", column_keys<C>, n, n, x, in.strides[0],
                       first_column * in.strides[1], static_cast<const Index*>(order.data()),
                       keys.data());
        } else {
          launch_items("unique", keys_by_column<C>, count * n, count, n, x, in.strides[0],
                       first_column * in.strides[1], in.strides[1], joined.data(), rows.data());
          join_all_columns(count, n, joined.data(), rows.data());
          launch_items("unique", take_keys, n, n, joined.data(), order.data(), keys.data());
        }
        sort_pairs(keys.data(), order.data(), 1, n);
        end -= count;
      }
    }
    if (width > kWarp)
      launch("unique", mark_wide_begins<C>, blocks_for(n, 1), threads_for(width),
             reduce_bytes<Index>(), n, width, x, in.strides[0], in.strides[1],
             static_cast<const Index*>(order.data()), numbers.data());
    else
      launch_items("unique", mark_begins<C>, n, n, width, x, in.strides[0], in.strides[1],
                   static_cast<const Index*>(order.data()), numbers.data());
  });
  running_sums(numbers.data(), n);
  const Scratch<Index> begins(n, "unique");
  launch_items("unique", write_groups, n, n, static_cast<const Index*>(order.data()),
               static_cast<const Index*>(numbers.data()), first, inverse, begins.data());
  const Index groups = fetch(numbers.data() + n - 1, "unique");
  if (counts)
    launch_items("unique", count_groups, groups, n, groups,
                 static_cast<const Index*>(begins.data()), counts);
  return groups;
}

}  // namespace rushlight::gpu
