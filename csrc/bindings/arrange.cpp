// Triangles, diagonals, positions: see csrc/ops/arrange.h.
#include "ops/arrange.h"

#include "bindings/forms.h"
#include "bindings/module.h"
#include "bindings/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

Tensor index_fill_value(const Tensor& input, std::int64_t dim, const Tensor& index, Scalar value) {
  return index_fill(input, dim, index, scalar_tensor(value, input.dtype(), input.device()));
}
Tensor rot90_op(const Tensor& input, std::int64_t k, Shape dims) { return rot90(input, k, dims); }
Tensor fliplr(const Tensor& input) {
  if (input.dim() < 2) fail<RuntimeError>("Input must be >= 2-d.");
  const std::int64_t d = 1;
  return flip(input, {&d, 1});
}
Tensor flipud(const Tensor& input) {
  if (input.dim() < 1) fail<RuntimeError>("Input must be >= 1-d.");
  const std::int64_t d = 0;
  return flip(input, {&d, 1});
}
Tensor trace(const Tensor& input) {
  if (input.dim() != 2)
    fail<RuntimeError>("trace: expected a matrix, but got tensor with dim ", input.dim());
  return sum(diagonal(input, 0, 0, 1), {}, false);
}
std::vector<Tensor> split_sections(const Tensor& input, std::int64_t sections, std::int64_t dim) {
  if (sections <= 0) fail<RuntimeError>("number of sections must be larger than 0, got ", sections);
  if (sections > 1 << 20)
    fail<RuntimeError>("number of sections must be at most ", 1 << 20, ", got ", sections);
  const int d = wrap_dim(dim, input.dim());
  const std::int64_t n = input.dim() ? input->shape[d] : 1;
  std::vector<std::int64_t> at;
  std::int64_t end = 0;
  for (std::int64_t i = 0; i + 1 < sections; ++i)
    at.push_back(end += n / sections + (i < n % sections));
  return tensor_split(input, at, dim);
}
std::vector<Tensor> split_at(const Tensor& input, std::vector<std::int64_t> indices,
                             std::int64_t dim) {
  return tensor_split(input, indices, dim);
}
// The parts are named by a tensor: a number of them, or where to cut.
std::vector<Tensor> split_by_tensor(const Tensor& input, const Tensor& parts, std::int64_t dim) {
  if (!parts.device().is_cpu())
    fail<RuntimeError>(
        "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on ",
        parts.device());
  if (parts.dtype() != DType::int64)
    fail<RuntimeError>(
        "tensor_split expected tensor_indices_or_sections to have dtype of long, but got ",
        scalar_name(parts.dtype()));
  if (parts.dim() > 1)
    fail<RuntimeError>(
        "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
        "one-dimensional tensor, but got a tensor with ",
        parts.dim(), " dims");
  if (parts.dim() == 0) return split_sections(input, item(parts).as_int(), dim);
  const Tensor dense = contiguous(parts);
  const View v = view_of(dense);
  return tensor_split(input, {v.as<std::int64_t>(), v.as<std::int64_t>() + v.numel}, dim);
}
Tensor at_least(const Tensor& t, int rank) {
  if (t.dim() == 0 && rank == 2) return reshape(t, {1, 1});
  if (t.dim() == 0) return reshape(t, rank == 3 ? Shape{1, 1, 1} : Shape{1});
  if (t.dim() == 1 && rank == 2) return unsqueeze(t, 0);
  if (t.dim() == 1 && rank == 3) return unsqueeze(unsqueeze(t, 0), -1);
  if (t.dim() == 2 && rank == 3) return unsqueeze(t, -1);
  return t;
}
std::vector<Tensor> all_at_least(const std::vector<Tensor>& tensors, int rank) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(at_least(t, rank));
  return out;
}
Tensor hstack(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) fail<RuntimeError>("hstack expects a non-empty TensorList");
  const std::vector<Tensor> list = all_at_least(tensors, 1);
  return cat(list, list[0].dim() == 1 ? 0 : 1);
}
Tensor vstack(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) fail<RuntimeError>("vstack expects a non-empty TensorList");
  return cat(all_at_least(tensors, 2), 0);
}
Tensor dstack(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) fail<RuntimeError>("dstack expects a non-empty TensorList");
  return cat(all_at_least(tensors, 3), 2);
}
Tensor column_stack(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) fail<RuntimeError>("column_stack expects a non-empty TensorList");
  std::vector<Tensor> list;
  for (const Tensor& t : tensors) list.push_back(t.dim() <= 1 ? reshape(t, {-1, 1}) : t);
  return hstack(list);
}

}  // namespace

void bind_arrange(py::module_& m) {
  constexpr auto kFunction = As::function, kMethod = As::method;
  op_with_out<&tril>(m, "tril(input, diagonal=0, *, out=None)", As::both,
                     "The matrix with zeros above a diagonal.\n\n>>> torch.tril(torch.ones(2, "
                     "2))\ntensor([[1., 0.],\n        [1., 1.]])");
  op_with_out<&triu>(m, "triu(input, diagonal=0, *, out=None)", As::both,
                     "The matrix with zeros below a diagonal.\n\n>>> torch.triu(torch.ones(2, "
                     "2))\ntensor([[1., 1.],\n        [0., 1.]])");
  op_in_place<&tril>(m, "tril_(self, diagonal=0)");
  op_in_place<&triu>(m, "triu_(self, diagonal=0)");
  op_with_out<&diag>(m, "diag(input, diagonal=0, *, out=None)", As::both,
                     "A matrix with a vector on a diagonal, or the diagonal of a matrix.\n\n>>> "
                     "torch.diag(torch.tensor([1, 2]))\ntensor([[1, 0],\n        [0, 2]])");
  op<&diag_embed>(m, "diag_embed(input, offset=0, dim1=-2, dim2=-1)", As::both,
                  R"(The last dimension on a diagonal of two new ones.

    >>> torch.diag_embed(torch.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
)");
  op<&trace>(m, "trace(input)", As::both,
             "The sum of the diagonal.\n\n>>> torch.trace(torch.eye(3))\ntensor(3.)");
  op<&rot90_op>(m, "rot90(input, k=1, dims=(0, 1))", As::both,
                R"(Turned by k quarter turns in the plane of dims.

    >>> torch.rot90(torch.tensor([[1, 2], [3, 4]]))
    tensor([[2, 4],
            [1, 3]])
)");
  op<&fliplr>(m, "fliplr(input)", As::both, R"(The second dimension reversed.

    >>> torch.fliplr(torch.tensor([[1, 2], [3, 4]]))
    tensor([[2, 1],
            [4, 3]])
)");
  op<&flipud>(m, "flipud(input)", As::both, R"(The first dimension reversed.

    >>> torch.flipud(torch.tensor([[1, 2], [3, 4]]))
    tensor([[3, 4],
            [1, 2]])
)");
  op<&equal>(m, "equal(input, other)", As::both,
             "Whether shapes and all elements are equal.\n\n>>> torch.equal(torch.ones(2), "
             "torch.ones(2))\nTrue");
  op_with_out<&take>(
      m, "take(input, index, *, out=None)", As::both,
      "Elements at positions of the flat tensor.\n\n>>> torch.take(torch.tensor([[1, 2], [3, "
      "4]]), torch.tensor([3, 0]))\ntensor([4, 1])");
  op_with_out<&take_along_dim>(m, "take_along_dim(input, indices, dim=None, *, out=None)", As::both,
                               R"(gather() with broadcasting.

    >>> x = torch.tensor([[3, 1], [2, 4]])
    >>> torch.take_along_dim(x, x.argsort(1), 1)
    tensor([[1, 3],
            [2, 4]])
)");
  overloads<&index_fill, &index_fill_value>(
      m, {"index_fill(input, dim, index, value)", "index_fill(input, dim, index, value)"}, As::both,
      R"(A copy with the indices of a dimension set to value.

    >>> torch.arange(3).index_fill(0, torch.tensor([0, 2]), -1)
    tensor([-1,  1, -1])
)");
  overloads<&InPlace<&index_fill>::call, &InPlace<&index_fill_value>::call>(
      m, {"index_fill_(self, dim, index, value)", "index_fill_(self, dim, index, value)"}, kMethod,
      "Sets the indices of a dimension to value.");
  op_with_out<&index_copy>(m, "index_copy(input, dim, index, source, *, out=None)", As::both,
                           R"(A copy with source at the indices of a dimension.

    >>> torch.zeros(3).index_copy(0, torch.tensor([2, 0]), torch.tensor([5., 7.]))
    tensor([7., 0., 5.])
)");
  op_in_place<&index_copy>(m, "index_copy_(self, dim, index, source)");
  op<&masked_scatter>(m, "masked_scatter(input, mask, source)", As::both,
                      R"(A copy with source's elements, in order, where mask holds.

    >>> mask = torch.tensor([True, False, True])
    >>> torch.zeros(3).masked_scatter(mask, torch.tensor([5., 7.]))
    tensor([5., 0., 7.])
)");
  op_in_place<&masked_scatter>(m, "masked_scatter_(self, mask, source)");
  overloads<&split_by_tensor, &split_sections, &split_at>(
      m,
      {"tensor_split(input, tensor_indices_or_sections, dim=0)",
       "tensor_split(input, indices_or_sections, dim=0)",
       "tensor_split(input, indices_or_sections, dim=0)"},
      As::both, R"(Views of parts of a dimension: a number of parts, or cut before each position.

    >>> torch.tensor_split(torch.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    >>> torch.tensor_split(torch.arange(5), (1, 3))
    (tensor([0]), tensor([1, 2]), tensor([3, 4]))
)");
  op_with_out<&hstack>(m, "hstack(tensors, *, out=None)", kFunction,
                       "Tensors side by side.\n\n>>> torch.hstack([torch.tensor([1]), "
                       "torch.tensor([2])])\ntensor([1, 2])");
  op_with_out<&vstack>(m, "vstack(tensors, *, out=None)", kFunction,
                       "Tensors as rows.\n\n>>> torch.vstack([torch.tensor([1]), "
                       "torch.tensor([2])])\ntensor([[1],\n        [2]])");
  publish_alias(m, kFunction, "vstack", "row_stack");
  op_with_out<&dstack>(m, "dstack(tensors, *, out=None)", kFunction,
                       R"(Tensors along the third dimension.

    >>> torch.dstack([torch.tensor([1, 2]), torch.tensor([3, 4])])
    tensor([[[1, 3],
             [2, 4]]])
)");
  op_with_out<&column_stack>(m, "column_stack(tensors, *, out=None)", kFunction,
                             R"(Vectors as columns.

    >>> torch.column_stack([torch.tensor([1, 2]), torch.tensor([3, 4])])
    tensor([[1, 3],
            [2, 4]])
)");
}

}  // namespace rushlight::python
