// Rows of a table by index. Forward: a thread an element. Backward: a block for each index; that of
// a row's first occurrence adds the gradients of all its occurrences in their order, so that sums
// do not depend on chance; the others have nothing to do.
#include "elements.h"
#include "families.h"
#include "launch.h"

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

template <class I, class C>
__global__ void add_rows(Reader<C> grad, const I* indices, Index n, Index rows, Index size,
                         Index padding, bool by_frequency, Writer<C> out, Note* note) {
  Index* shared = shared_memory<Index>();
  for (Index i = blockIdx.x; i < n; i += gridDim.x) {
    const Index row = checked_index(note, Noted::embedding, Index(indices[i]), rows);
    Index earlier = 0, count = 0;
    for (Index j = threadIdx.x; j < n; j += blockDim.x) {
      const bool same = Index(indices[j]) == row;
      earlier += same && j < i;
      count += same;
    }
    earlier = block_reduce(earlier, Add(), shared);
    count = block_reduce(count, Add(), shared);
    if (earlier > 0 || row == padding) continue;
    const C factor = by_frequency ? C(1) / C(count) : C(1);
    for (Index c = threadIdx.x; c < size; c += blockDim.x) {
      C sum = 0;
      for (Index j = i; j < n; ++j)
        if (Index(indices[j]) == row) sum += grad[j * size + c] * factor;
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
    compute_floating(grad.dtype, [&]<class C>(Type<C>) {
      if (indices.numel > 0)
        launch("embedding_backward", add_rows<I, C>, blocks_for(indices.numel, 1),
               threads_for(size), reduce_bytes<Index>(), Reader<C>(grad), at, indices.numel, rows,
               size, padding_idx, by_frequency, Writer<C>(grad_weight), current().note);
    });
    return Index(-1);
  });
}

}  // namespace

const EmbeddingKernels embedding_kernels = {forward, backward};

}  // namespace rushlight::gpu
