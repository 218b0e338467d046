// Rows of a table by index. Forward: a thread an element. Backward: indices are sorted, equal ones
// in their order, and a block adds up the gradients of each run of equal ones, so that sums do not
// depend on chance.
#include "elements.h"
#include "families.h"
#include "kernels/cuda/sort/pairs.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

template <class I>
__global__ void find_bad(const I* indices, Index n, Index rows, unsigned long long* first) {
  for (Index i = first_item(); i < n; i += stride())
    if (indices[i] < 0 || indices[i] >= rows) atomicMin(first, (unsigned long long)(i));
}

template <class I>
Index check_indices(const I* indices, Index n, Index rows) {
  if (!blocking()) return -1;
  const Scratch<unsigned long long> first(1, "embedding");
  check(cudaMemsetAsync(first.data(), 0xff, sizeof(unsigned long long), current().stream),
        "embedding");
  launch_items("embedding", find_bad<I>, n, indices, n, rows, first.data());
  return static_cast<Index>(fetch(first.data(), "embedding"));
}

template <class I, class S>
__global__ void take_rows(const S* weight, Index rows, Index size, const I* indices, S* out,
                          Index n, Note* note) {
  for (Index i = first_item(); i < n * size; i += stride()) {
    const Index row = checked_index(note, Noted::embedding, Index(indices[i / size]), rows);
    out[i] = weight[row * size + i % size];
  }
}

template <class I>
__global__ void number_indices(const I* indices, Index n, Index rows, std::uint64_t* keys,
                               Index* order, Note* note) {
  for (Index i = first_item(); i < n; i += stride()) {
    keys[i] = std::uint64_t(checked_index(note, Noted::embedding, Index(indices[i]), rows));
    order[i] = i;
  }
}

// Where the run that begins at `begin` ends.
__device__ inline Index run_end(const std::uint64_t* keys, Index begin, Index n) {
  Index inside = begin, beyond = n;
  while (beyond - inside > 1) {
    const Index middle = inside + (beyond - inside) / 2;
    (keys[middle] == keys[begin] ? inside : beyond) = middle;
  }
  return beyond;
}

template <class C>
__global__ void add_runs(Reader<C> grad, const std::uint64_t* keys, const Index* order, Index n,
                         Index size, Index padding, bool by_frequency, Writer<C> out) {
  for (Index p = blockIdx.x; p < n; p += gridDim.x) {
    const auto row = Index(keys[p]);
    if (row == padding || (p > 0 && keys[p - 1] == keys[p])) continue;
    const Index end = run_end(keys, p, n);
    const C factor = by_frequency ? C(1) / C(end - p) : C(1);
    for (Index c = threadIdx.x; c < size; c += blockDim.x) {
      C sum = 0;
      for (Index q = p; q < end; ++q) sum += grad[order[q] * size + c] * factor;
      out.set(row * size + c, sum);
    }
  }
}

template <class F>
auto with_indices(const View& indices, F&& f) {
  return indices.dtype == DType::int32 ? f(indices.as<const std::int32_t>())
                                       : f(indices.as<const Index>());
}

Index forward(const View& weight, const View& indices, const View& out) {
  const Index rows = weight.sizes[0], size = weight.sizes[1];
  return with_indices(indices, [&]<class I>(const I* at) {
    if (const Index bad = check_indices(at, indices.numel, rows); bad >= 0) return bad;
    dispatch_size(out.dtype, [&]<class S>(Type<S>) {
      launch_items("embedding", take_rows<I, S>, out.numel, weight.as<const S>(), rows, size, at,
                   out.as<S>(), indices.numel, current().note);
    });
    return Index(-1);
  });
}

Index backward(const View& grad, const View& indices, Index padding_idx, bool by_frequency,
               const View& grad_weight) {
  const Index rows = grad_weight.sizes[0], size = grad_weight.sizes[1];
  return with_indices(indices, [&]<class I>(const I* at) {
    if (const Index bad = check_indices(at, indices.numel, rows); bad >= 0) return bad;
    check(cudaMemsetAsync(grad_weight.data, 0,
                          std::size_t(grad_weight.numel) * item_size(grad_weight.dtype),
                          current().stream),
          "embedding_backward");
    const Index n = indices.numel;
    if (n == 0) return Index(-1);
    const Scratch<std::uint64_t> keys(n, "embedding_backward");
    const Scratch<Index> order(n, "embedding_backward");
    launch_items("embedding_backward", number_indices<I>, n, at, n, rows, keys.data(), order.data(),
                 current().note);
    sort_pairs(keys.data(), order.data(), 1, n);
    compute_floating(grad.dtype, [&]<class C>(Type<C>) {
      launch("embedding_backward", add_runs<C>, blocks_for(n, 1), threads_for(size), 0,
             Reader<C>(grad), static_cast<const std::uint64_t*>(keys.data()),
             static_cast<const Index*>(order.data()), n, size, padding_idx, by_frequency,
             Writer<C>(grad_weight));
    });
    return Index(-1);
  });
}

}  // namespace

const EmbeddingKernels embedding_kernels = {forward, backward};

}  // namespace rushlight::gpu
