// Binary searches in sorted rows.
#include "kernels/cuda/elements.h"
#include "sort.h"

namespace rushlight::gpu {
namespace {

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

__global__ void first_bad_sorter(Index total, Index n, const Index* sorter, Index row_step,
                                 Index step, unsigned long long* first) {
  for (Index i = first_item(); i < total; i += stride()) {
    const Index at = sorter[i / n * row_step + i % n * step];
    if (at < 0 || at >= n) atomicMin(first, (unsigned long long)(i));
  }
}

}  // namespace

Index search(const View& out, const View& sorted, const View& values, const View* sorter,
             bool right) {
  const Index n = sorted.sizes[1];
  if (sorter && sorter->numel > 0) {
    const Scratch<unsigned long long> first(1, "searchsorted");
    check(cudaMemsetAsync(first.data(), 0xff, sizeof(unsigned long long), current().stream),
          "searchsorted");
    launch_items("searchsorted", first_bad_sorter, sorter->numel, sorter->numel, n,
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

}  // namespace rushlight::gpu
