// Distinct rows, places in sorted rows, counts and histograms.
#include "sort.h"
#include "sort_keys.h"
#include "sort_pairs.h"

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

// One block: running sums in place, a tile after the other.
__global__ void add_up(Index n, Index* values) {
  Index* shared = shared_memory<Index>();
  Index carry = 0;
  for (Index tile = 0; tile < n; tile += blockDim.x) {
    const Index i = tile + threadIdx.x;
    Index v = i < n ? values[i] : 0;
    for (int by = 1; by < int(blockDim.x); by *= 2) {
      shared[threadIdx.x] = v;
      __syncthreads();
      if (int(threadIdx.x) >= by) v += shared[threadIdx.x - by];
      __syncthreads();
    }
    if (i < n) values[i] = carry + v;
    shared[threadIdx.x] = v;
    __syncthreads();
    carry += shared[blockDim.x - 1];
    __syncthreads();
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

template <class C>
__global__ void search_items(Index rows, Index columns, Index n, Reader<C> sorted, Index row_step,
                             Index step, const Index* sorter, Index sorter_row, Index sorter_step,
                             Reader<C> values, Index value_row, Index value_step, bool right,
                             void* out, DType dtype, Index out_row, Index out_step, bool one_row) {
  for (Index i = first_item(); i < rows * columns; i += stride()) {
    const Index r = i / columns, c = i % columns, row = one_row ? 0 : r;
    const C value = values[r * value_row + c * value_step];
    Index from = 0;
    for (Index left = n; left > 0;) {
      const Index half = left / 2, middle = from + half;
      const Index at = sorter ? sorter[row * sorter_row + middle * sorter_step] : middle;
      const C v = sorted[row * row_step + at * step];
      if (right ? !(v > value) : !(v >= value)) {
        from = middle + 1;
        left -= half + 1;
      } else {
        left = half;
      }
    }
    store_as(out, r * out_row + c * out_step, dtype, from);
  }
}

__global__ void find_bad_sorter(Index total, Index n, const Index* sorter, Index row_step,
                                Index step, unsigned long long* first) {
  for (Index i = first_item(); i < total; i += stride()) {
    const Index at = sorter[i / n * row_step + i % n * step];
    if (at < 0 || at >= n) atomicMin(first, (unsigned long long)(i));
  }
}

// One thread a bin: amounts are added in their order.
template <class C>
__global__ void count_bins(Index bins, Index n, const Index* in, Index step, Reader<C> weights,
                           Index weight_step, Writer<C> out) {
  for (Index b = first_item(); b < bins; b += stride()) {
    C sum = 0;
    for (Index i = 0; i < n; ++i)
      if (in[i * step] == b) sum += weights.value_or(i * weight_step, 1);
    out.set(b, sum);
  }
}
__global__ void count_ones(Index n, const Index* in, Index step, unsigned long long* out) {
  for (Index i = first_item(); i < n; i += stride()) atomicAdd(out + in[i * step], 1ull);
}

template <class C>
__global__ void histogram_items(Index n, Reader<C> in, Index step, Index bins, double low,
                                double high, unsigned long long* counts) {
  const C from = C(low), to = C(high);
  for (Index i = first_item(); i < n; i += stride()) {
    const C x = in[i * step];
    if (!(x >= from && x <= to)) continue;
    const Index bin = Index((x - from) * C(bins) / (to - from));
    atomicAdd(counts + (bin < 0 ? 0 : bin >= bins ? bins - 1 : bin), 1ull);
  }
}
template <class C>
__global__ void write_counts(Index bins, const unsigned long long* counts, Writer<C> out,
                             Index step) {
  for (Index b = first_item(); b < bins; b += stride()) out.set(b * step, C(counts[b]));
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
  launch("unique", add_up, 1, kThreads, kThreads * sizeof(Index), n, numbers.data());
  const Scratch<Index> begins(n, "unique");
  launch_items("unique", write_groups, n, n, static_cast<const Index*>(order.data()),
               static_cast<const Index*>(numbers.data()), first, inverse, begins.data());
  const Index groups = fetch(numbers.data() + n - 1, "unique");
  launch_items("unique", count_groups, groups, n, groups, static_cast<const Index*>(begins.data()),
               counts);
  return groups;
}

Index search(const View& out, const View& sorted, const View& values, const View* sorter,
             bool right) {
  const Index n = sorted.sizes[1];
  if (sorter && sorter->numel > 0) {
    const Scratch<unsigned long long> first(1, "searchsorted");
    check(cudaMemsetAsync(first.data(), 0xff, sizeof(unsigned long long), current().stream),
          "searchsorted");
    launch_items("searchsorted", find_bad_sorter, sorter->numel, sorter->numel, n,
                 sorter->as<const Index>(), sorter->strides[0], sorter->strides[1], first.data());
    const auto bad = static_cast<Index>(fetch(first.data(), "searchsorted"));
    if (bad >= 0) return bad;
  }
  compute_any(sorted.dtype, [&]<class C>(Type<C>) {
    launch_items("searchsorted", search_items<C>, values.numel, values.sizes[0], values.sizes[1], n,
                 Reader<C>(sorted), sorted.strides[0], sorted.strides[1],
                 sorter ? sorter->as<const Index>() : nullptr, sorter ? sorter->strides[0] : 0,
                 sorter ? sorter->strides[1] : 0, Reader<C>(values), values.strides[0],
                 values.strides[1], right, out.data, out.dtype, out.strides[0], out.strides[1],
                 sorted.sizes[0] == 1);
  });
  return -1;
}

void count(const View& out, const View& in, const View* weights) {
  const Index n = in.numel, step = in.rank ? in.strides[0] : 1;
  if (!weights) {
    check(cudaMemsetAsync(out.data, 0, std::size_t(out.numel) * sizeof(Index), current().stream),
          "bincount");
    return launch_items("bincount", count_ones, n, n, in.as<const Index>(), step,
                        out.as<unsigned long long>());
  }
  compute_floating(out.dtype, [&]<class C>(Type<C>) {
    launch_items("bincount", count_bins<C>, out.numel, out.numel, n, in.as<const Index>(), step,
                 Reader<C>(weights), weights->rank ? weights->strides[0] : 1, Writer<C>(out));
  });
}

void histogram(const View& out, const View& in, double low, double high) {
  const Index bins = out.numel;
  const Scratch<unsigned long long> counts(bins, "histc");
  check(cudaMemsetAsync(counts.data(), 0, std::size_t(bins) * 8, current().stream), "histc");
  compute_floating(in.dtype, [&]<class C>(Type<C>) {
    launch_items("histc", histogram_items<C>, in.numel, in.numel, Reader<C>(in),
                 in.rank ? in.strides[0] : 1, bins, low, high, counts.data());
    launch_items("histc", write_counts<C>, bins, bins,
                 static_cast<const unsigned long long*>(counts.data()), Writer<C>(out),
                 out.rank ? out.strides[0] : 1);
  });
}

}  // namespace rushlight::gpu
