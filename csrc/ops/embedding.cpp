// Embedding: the indices are checked by the kernel, before it writes.
#include "ops/embedding.h"

#include "autograd/showing.h"
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/operands.h"
#include "core/unlocked.h"
#include "kernels/embedding.h"
#include "ops/pointwise/pointwise.h"
#include "ops/reduce/reduce.h"

namespace rushlight {
namespace {

[[noreturn]] void fail_index(const Tensor& weight, const Tensor& indices, std::int64_t at) {
  fail<IndexError>("index out of range in self\nindices at flat position ", at, " is ",
                   element(indices, indices.offset() + at).as_int(), "; it must lie in [0, ",
                   weight->shape[0], "): ", describe("weight", weight));
}

Tensor backward(const Tensor& g, const Tensor& flat, const Shape& table, std::int64_t padding_idx,
                bool by_frequency) {
  Tensor out = empty(table, g.dtype(), g.device());
  if (out.numel() != 0 && !out.device().is_meta()) {
    const GradMode off(false);
    const Tensor grad = contiguous(g);
    const View v = dense_view(grad, out.dtype(), checked_mul(flat.numel(), table[1])),
               i = view_of(flat), o = view_of(out);
    const EmbeddingKernels& kernels = *backend(out.device()).embedding;
    const Unlocked unlocked(double(g.numel() + out.numel()) * 0.3, {&grad, &flat, &out});
    const std::int64_t bad = kernels.backward(v, i, padding_idx, by_frequency, o);
    if (bad >= 0) fail_index(out, flat, bad);
  }
  return record(
      "EmbeddingBackwardBackward0", std::move(out),
      [flat, padding_idx, by_frequency, from = g.shape()](Tensor gg) {
        if (by_frequency)
          fail<RuntimeError>(
              "embedding_dense_backward() with scale_grad_by_freq has no derivative here");
        Tensor rows = reshape(embedding(gg, flat, padding_idx, false, false), from);
        if (padding_idx < 0) return Gradients(rows);
        const Tensor kept = apply<Ne>(flat, Scalar(padding_idx));
        return Gradients(mul(rows, reshape(to(kept, gg.dtype()), {flat.numel(), 1})));
      },
      g);
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& indices, std::int64_t padding_idx,
                 bool scale_grad_by_freq, bool sparse) {
  if (sparse && needs_grad(weight))
    return sparse_embedding(weight, indices, padding_idx, scale_grad_by_freq);
  if (weight.dim() != 2) fail<RuntimeError>("'weight' must be 2-D");
  if (is_complex(weight.dtype())) {
    if (needs_grad(weight))
      fail<RuntimeError>(
          "embedding does not support automatic differentiation for outputs with complex dtype.\n",
          describe("weight", weight), "; weight[indices] has a gradient");
    const Tensor parts = view_as_real(contiguous(weight));
    const Tensor rows = embedding(reshape(parts, {weight->shape[0], 2 * weight->shape[1]}), indices,
                                  padding_idx, false, false);
    Shape shape = indices.shape();
    shape.push_back(weight->shape[1]);
    shape.push_back(2);
    return view_as_complex(view(rows, shape));
  }
  if (indices.dtype() != DType::int64 && indices.dtype() != DType::int32)
    fail<RuntimeError>(
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
        "Long, Int; but got torch.",
        scalar_name(indices.dtype()), "Tensor instead (while checking arguments for embedding)\n",
        describe("indices", indices), "; convert with .long()");
  check_operands("embedding", "_index_select", {"weight", "self", weight},
                 {"indices", "index", indices});
  const Shape sizes = weight.shape();  // before another thread can change them
  Shape shape = indices.shape();
  shape.push_back(sizes[1]);
  Tensor out = empty(shape, weight.dtype(), weight.device());
  const std::int64_t count = indices.numel();
  const DType kind = indices.dtype();
  Tensor flat;
  {
    const GradMode off(false);
    flat = reshape(contiguous(indices), {-1});
    if (count < sizes[0] && !weight.is_contiguous() && !out.device().is_meta()) {
      // Not all of a table that would have to be copied.
      out = reshape(index_select(detach(weight), 0, flat), shape);
    } else if (count != 0 && !out.device().is_meta()) {
      const Tensor table = contiguous(weight);
      const View w = dense_view(table, out.dtype(), sizes), i = dense_view(flat, kind, count),
                 o = view_of(out);
      const EmbeddingKernels& kernels = *backend(out.device()).embedding;
      std::int64_t bad = 0;
      {
        const Unlocked unlocked(double(out.numel()) * 0.3, {&table, &flat, &out});
        bad = kernels.forward(w, i, o);
      }
      if (bad >= 0) fail_index(weight, flat, bad);
    }
  }
  return record(
      "EmbeddingBackward0", std::move(out),
      showing(
          "indices padding_idx scale_grad_by_freq weight_sym_argsize_0 sparse",
          [flat, table = sizes](Tensor g, Node&, const Saved&, std::int64_t padding_idx,
                                bool scale_grad_by_freq) {
            const Tensor rows = reshape(g, {flat.numel(), table[1]});
            return Gradients(backward(rows, flat, table, padding_idx, scale_grad_by_freq));
          },
          Saved(indices), std::int64_t(padding_idx), bool(scale_grad_by_freq), sizes[0], false),
      weight);
}

Tensor embedding_bags(const Tensor& weight, const Tensor& indices, std::int64_t length, bool means,
                      bool scale_grad_by_freq) {
  check_operands("embedding", "_index_select", {"weight", "self", weight},
                 {"indices", "index", indices});
  const Shape sizes = weight.shape();  // before another thread can change them
  const std::int64_t bags = indices.numel() / length, size = sizes[1];
  Tensor out = empty({bags, size}, weight.dtype(), weight.device());
  {
    const GradMode off(false);
    const Tensor table = contiguous(weight);
    const View w = dense_view(table, out.dtype(), sizes),
               i = dense_view(indices, DType::int64, bags * length), o = view_of(out);
    const EmbeddingKernels& kernels = *backend(out.device()).embedding;
    std::int64_t bad = 0;
    {
      const Unlocked unlocked(double(indices.numel() * size) * 0.3, {&table, &indices, &out});
      bad = kernels.bags(w, i, length, means, o);
    }
    if (bad >= 0) fail_index(weight, indices, bad);
  }
  return record(
      "EmbeddingBagBackward0", std::move(out),
      [indices, length, means, scale_grad_by_freq, bags, table = sizes](Tensor g) {
        const Tensor each = means ? mul(g, Scalar(1 / double(length))) : g;
        const Tensor rows = expand(unsqueeze(each, 1), Shape{bags, length, table[1]});
        return Gradients(backward(reshape(rows, Shape{indices.numel(), table[1]}), indices, table,
                                  -1, scale_grad_by_freq));
      },
      weight);
}

bool has_embedding_bags(const Tensor& weight) {
  return is_floating(weight.dtype()) && !weight.device().is_meta() &&
         backend(weight.device()).embedding->bags;
}

Tensor one_hot(const Tensor& tensor, std::int64_t num_classes) {
  if (tensor.dtype() != DType::int64)
    fail<RuntimeError>("one_hot is only applicable to index tensor of type LongTensor.\n",
                       describe("tensor", tensor));
  const Tensor dense = contiguous(tensor);
  std::int64_t largest = -1;
  // As torch's: on a GPU the kernel notes a class that is out of range, without a wait.
  if (dense.numel() && (dense.device().is_cpu() || num_classes <= 0)) {
    if (element(amin(dense, {}, false), 0).as_int() < 0)
      fail<RuntimeError>("Class values must be non-negative.");
    largest = element(amax(dense, {}, false), 0).as_int();
  }
  if (num_classes <= 0 && dense.numel() == 0)
    fail<RuntimeError>("Can not infer total number of classes from empty tensor.\none_hot(): ",
                       describe("tensor", dense), ": give num_classes");
  if (num_classes == -1) num_classes = checked_add(largest, 1);
  if (largest >= num_classes)
    fail<RuntimeError>("Class values must be smaller than num_classes.\none_hot(): the largest is ",
                       largest, ", and num_classes=", num_classes);
  Shape shape = dense.shape();
  shape.push_back(num_classes);
  Tensor out = zeros(shape, DType::int64, tensor.device());
  const Tensor place = unsqueeze(dense, -1);
  scatter_(out, -1, place, full(place.shape(), 1, DType::int64, tensor.device()));
  return out;
}

}  // namespace rushlight
