// Rows of a table by index, and classes as rows: see csrc/ops/embedding.cpp.
#include "ops/embedding.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using Maybe = std::optional<Tensor>;
using Word = std::string_view;

Tensor bag_op(const Tensor& weight, const Tensor& indices, const Tensor& offsets, Word mode,
              Maybe weights, std::int64_t padding_idx, bool scale_grad_by_freq, bool sparse,
              bool include_last_offset) {
  return embedding_bag(weight, indices, offsets, mode, weights, padding_idx, scale_grad_by_freq,
                       sparse, include_last_offset);
}

}  // namespace

void bind_embedding(py::module_& m) {
  op<&embedding>(m,
                 "embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, "
                 "sparse=False)",
                 with_complex(As::function),
                 R"(The rows of `weight` at the given indices.

Args:
    weight: the table of rows.
    indices: int64 or int32 indices of rows.
    padding_idx: the row that gets no gradient; -1 for none.
    scale_grad_by_freq: whether a row's gradient is divided by how often it occurs.
    sparse: whether the gradient of weight is a sparse tensor.

Shape:
    weight (rows, size), indices (*) of int64 or int32 give (*, size).

Raises:
    IndexError: for an index out of range, before anything is written.

>>> torch.embedding(torch.tensor([[1.], [2.]]), torch.tensor([1, 0]))
tensor([[2.],
        [1.]]))");
  op<&bag_op>(m,
              "_embedding_bag_of(weight, indices, offsets, mode, per_sample_weights=None, "
              "padding_idx=-1, scale_grad_by_freq=False, sparse=False, "
              "include_last_offset=False)",
              As::function, "torch.nn.functional.embedding_bag() without its checks of shapes.");
  op<&one_hot>(m, "one_hot(input, num_classes=-1)", As::functional,
               R"(Class indices as rows of zeros with a single 1.

Args:
    input: int64 class indices.
    num_classes: how many classes; -1 for the largest index and one.

Shape:
    input (*) gives (*, num_classes).

>>> torch.nn.functional.one_hot(torch.tensor([1, 0]))
tensor([[0, 1],
        [1, 0]]))");
}

}  // namespace rushlight::python
