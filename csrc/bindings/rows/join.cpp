// Joining and repeating: see csrc/ops/join.h.
#include "ops/join.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using Count = std::optional<std::int64_t>;

Tensor repeat_op(const Tensor& self, Shape repeats) { return repeat(self, repeats); }
Tensor tile_op(const Tensor& input, Shape dims) { return tile(input, dims); }
Tensor repeat_by_tensor(const Tensor& input, const Tensor& repeats, Count dim, Count output_size) {
  return repeat_interleave(input, repeats, dim, output_size);
}
Tensor repeat_by_number(const Tensor& input, std::int64_t repeats, Count dim, Count output_size) {
  return repeat_interleave(input, repeats, dim, output_size);
}
Tensor repeated_indices(const Tensor& repeats, Count output_size) {
  return repeat_interleave(repeats, output_size);
}

}  // namespace

void bind_join(py::module_& m) {
  op<&cat>(m, "cat(tensors, dim=0, *, out=None)", As::function,
           R"(Tensors joined along a dimension; all other sizes must agree.

Args:
    tensors: a list or tuple of tensors on one device.
    dim: the dimension along which to join.

Raises:
    RuntimeError: if sizes or devices differ, or the list is empty.

>>> torch.cat([torch.tensor([1]), torch.tensor([2, 3])])
tensor([1, 2, 3]))");
  for (const char* name : {"concat", "concatenate"}) publish_alias(m, As::function, "cat", name);
  op<&stack>(
      m, "stack(tensors, dim=0, *, out=None)", As::function,
      "Tensors of one shape joined along a new dimension.\n\n>>> torch.stack([torch.tensor([1, "
      "2]), torch.tensor([3, 4])])\ntensor([[1, 2],\n        [3, 4]])");
  op<&combinations>(m, "combinations(input, r=2, with_replacement=False)", As::function,
                    R"(All ways to choose r elements of a vector, one per row.

Args:
    r: how many are chosen.
    with_replacement: whether an element may come more than once.

>>> torch.combinations(torch.tensor([1, 2, 3]))
tensor([[1, 2],
        [1, 3],
        [2, 3]]))");
  op<&hstack>(m, "hstack(tensors, *, out=None)", As::function,
              "Tensors joined along the second dimension; vectors along the first.\n\n>>> "
              "torch.hstack([torch.tensor([1]), "
              "torch.tensor([2])])\ntensor([1, 2])");
  op<&vstack>(m, "vstack(tensors, *, out=None)", As::function,
              "Tensors as rows.\n\n>>> torch.vstack([torch.tensor([1]), "
              "torch.tensor([2])])\ntensor([[1],\n        [2]])");
  publish_alias(m, As::function, "vstack", "row_stack");
  op<&dstack>(m, "dstack(tensors, *, out=None)", As::function,
              R"(Tensors along the third dimension.

    >>> torch.dstack([torch.tensor([1, 2]), torch.tensor([3, 4])])
    tensor([[[1, 3],
             [2, 4]]])
)");
  op<&column_stack>(m, "column_stack(tensors, *, out=None)", As::function,
                    R"(Vectors as columns.

    >>> torch.column_stack([torch.tensor([1, 2]), torch.tensor([3, 4])])
    tensor([[1, 3],
            [2, 4]])
)");
  op<&repeat_op>(m, "repeat(self, *repeats)", As::method,
                 "Copies of the tensor side by side.\n\n>>> torch.tensor([1, "
                 "2]).repeat(2)\ntensor([1, 2, 1, 2])");
  op<&tile_op, 1>(m, "tile(self, *dims)", As::method, "See torch.tile().");
  op<&tile_op>(m, "tile(input, dims)", As::function,
               "Like repeat(), with missing leading counts taken as 1.\n\n>>> torch.tensor([1, "
               "2]).tile((2,))\ntensor([1, 2, 1, 2])");
  overloads<&repeat_by_tensor, &repeat_by_number, &repeated_indices>(
      m,
      {"repeat_interleave(input, repeats, dim=None, *, output_size=None)",
       "repeat_interleave(input, repeats, dim=None, *, output_size=None)",
       "repeat_interleave(repeats, *, output_size=None)"},
      As::both, R"(Each element, or each index of a dimension, repeated in its place.

Args:
    input: the tensor; left out: the indices of repeats are repeated.
    repeats: a count for all, or a tensor with one for each index.
    dim: the dimension; by default all elements in one.
    output_size: the size of dim in the result; a GPU need not be waited for then.

    >>> torch.repeat_interleave(torch.tensor([1, 2]), torch.tensor([2, 1]))
    tensor([1, 1, 2])
    >>> torch.repeat_interleave(torch.tensor([2, 0, 1]))
    tensor([0, 0, 2])
)");
}

}  // namespace rushlight::python
