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
  op<&cat>(m, "cat(tensors, dim=0, *, out=None)", stored(As::function),
           R"(Joins tensors along a dimension; all other sizes must agree.

Args:
    tensors: a list or tuple of tensors on one device.
    dim: the dimension along which to join.

Shape:
    that of the tensors, with the sum of their sizes in dim.

Raises:
    RuntimeError: if sizes or devices differ, or the list is empty.

>>> torch.cat([torch.tensor([1]), torch.tensor([2, 3])])
tensor([1, 2, 3]))");
  for (const char* name : {"concat", "concatenate"}) publish_alias(m, As::function, "cat", name);
  op<&stack>(m, "stack(tensors, dim=0, *, out=None)", stored(As::function),
             R"(Joins tensors of one shape along a new dimension.

Args:
    tensors: a sequence of tensors of one shape.
    dim: the index of the new dimension.

Shape:
    k tensors (*) give (*, k, *), with k in dim.

>>> torch.stack([torch.tensor([1, 2]), torch.tensor([3, 4])])
tensor([[1, 2],
        [3, 4]]))");
  op<&combinations>(m, "combinations(input, r=2, with_replacement=False)", As::function,
                    R"(All ways to choose r elements of a vector, one per row.

Args:
    r: how many are chosen.
    with_replacement: whether an element may come more than once.

Shape:
    input (n) gives (k, r) for k ways.

>>> torch.combinations(torch.tensor([1, 2, 3]))
tensor([[1, 2],
        [1, 3],
        [2, 3]]))");
  op<&hstack>(m, "hstack(tensors, *, out=None)", stored(As::function),
              R"(Joins tensors along the second dimension, vectors along the first.

Shape:
    that of the tensors, with the sum of their sizes in that dimension.

>>> torch.hstack([torch.tensor([1]), torch.tensor([2])])
tensor([1, 2]))");
  op<&vstack>(m, "vstack(tensors, *, out=None)", stored(As::function),
              R"(Joins tensors along the first dimension; a vector is a row.

Shape:
    that of the tensors, with the sum of their sizes in that dimension.

>>> torch.vstack([torch.tensor([1]), torch.tensor([2])])
tensor([[1],
        [2]]))");
  publish_alias(m, As::function, "vstack", "row_stack");
  op<&dstack>(m, "dstack(tensors, *, out=None)", stored(As::function),
              R"(Joins tensors along the third dimension; a matrix has size 1 there.

Shape:
    that of the tensors, with the sum of their sizes in that dimension.

>>> torch.dstack([torch.tensor([1, 2]), torch.tensor([3, 4])])
tensor([[[1, 3],
         [2, 4]]]))");
  op<&column_stack>(m, "column_stack(tensors, *, out=None)", stored(As::function),
                    R"(Joins tensors along the second dimension; a vector is a column.

Shape:
    that of the tensors, with the sum of their sizes in that dimension.

>>> torch.column_stack([torch.tensor([1, 2]), torch.tensor([3, 4])])
tensor([[1, 3],
        [2, 4]]))");
  op<&repeat_op>(m, "repeat(self, *repeats)", stored(As::method),
                 R"(Copies of the tensor joined along each dimension.

Args:
    repeats: how many copies for each dimension; further ones come in front.

Shape:
    each size of input is multiplied by its count.

>>> torch.tensor([1, 2]).repeat(2)
tensor([1, 2, 1, 2]))");
  op<&tile_op, 1>(m, "tile(self, *dims)", stored(As::method), "torch.tile() as a method.");
  op<&tile_op>(m, "tile(input, dims)", stored(As::function),
               R"(Copies of the tensor joined along each dimension; missing counts are 1, in front.

Args:
    dims: how many copies for each of the last dimensions.

Shape:
    each size of input is multiplied by its count.

>>> torch.tensor([1, 2]).tile((2,))
tensor([1, 2, 1, 2]))");
  overloads<&repeat_by_tensor, &repeat_by_number, &repeated_indices>(
      m,
      {"repeat_interleave(input, repeats, dim=None, *, output_size=None)",
       "repeat_interleave(input, repeats, dim=None, *, output_size=None)",
       "repeat_interleave(repeats, *, output_size=None)"},
      As::both,
      R"(Each element, or each slice of a dimension, repeated and followed by the next.

Args:
    input: the tensor; when left out, the indices of repeats are repeated.
    repeats: one count for all, or a vector with one for each index.
    dim: the dimension; None for the flattened input.
    output_size: the size of dim in the result, which spares the host waiting for a GPU.

Shape:
    that of input with the sum of the counts in dim.

>>> torch.repeat_interleave(torch.tensor([1, 2]), torch.tensor([2, 1]))
tensor([1, 1, 2])
>>> torch.repeat_interleave(torch.tensor([2, 0, 1]))
tensor([0, 0, 2]))");
}

}  // namespace rushlight::python
