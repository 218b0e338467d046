// Rows of a table by index. Forward: a thread an element. Backward: indices are sorted, equal ones
// in their order, and the gradients of each run of equal ones are added up (sort/runs.h).
#include "elements.h"
#include "families.h"
#include "kernels/cuda/sort/runs.h"
#include "runtime/launch.h"

namespace rushlight::gpu {
namespace {

template <class I, class S>
__global__ void take_rows(const S* weight, Index rows, Index size, const I* indices, S* out,
                          Index n, Note* note) {
  for (Index i = first_item(); i < n * size; i += stride()) {
    const Index row = checked_index(note, Noted::embedding, Index(indices[i / size]), rows);
    out[i] = weight[row * size + i % size];
  }
}

template <class I>
struct RowOf {
  const I* indices;
  Index rows;
  Note* note;
  __device__ Index operator()(Index i) const {
    return checked_index(note, Noted::embedding, Index(indices[i]), rows);
  }
};

// The gradient of a row; padding has none.
template <class C>
struct PutInRow {
  Writer<C> out;
  Index size, padding;
  bool by_frequency;
  __device__ void operator()(const Runs& runs, Index first, Index column, C sum) const {
    const auto row = Index(runs.keys[first]);
    if (row == padding) return;
    out.set(row * size + column, by_frequency ? sum / C(runs.end(first) - first) : sum);
  }
};

template <class F>
auto with_indices(const View& indices, F&& f) {
  return indices.dtype == DType::int32 ? f(indices.as<const std::int32_t>())
                                       : f(indices.as<const Index>());
}

Index forward(const View& weight, const View& indices, const View& out) {
  const Index rows = weight.sizes[0], size = weight.sizes[1];
  return with_indices(indices, [&]<class I>(const I* at) {
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
    check(cudaMemsetAsync(grad_weight.data, 0,
                          std::size_t(grad_weight.numel) * item_size(grad_weight.dtype),
                          current().stream),
          "embedding_backward");
    const Index n = indices.numel;
    if (n == 0) return Index(-1);
    const SortedKeys sorted("embedding_backward", n, RowOf<I>{at, rows, current().note}, rows);
    compute_floating(grad.dtype, [&]<class C>(Type<C>) {
      const Sums<C, PutInRow<C>> sums = {
          grad, size, {grad_weight, size, padding_idx, by_frequency}};
      fold_all_runs("embedding_backward", sorted.runs(), sums, size, C(0));
    });
    return Index(-1);
  });
}

}  // namespace

const EmbeddingKernels embedding_kernels = {forward, backward, nullptr};

}  // namespace rushlight::gpu
