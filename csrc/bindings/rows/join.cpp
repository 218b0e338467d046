// Joining and repeating: see csrc/ops/join.h.
#include "ops/join.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
void bind_join(py::module_& m) {
  op<&cat>(m, "cat(tensors, dim=0, *, out=None)", stored({.as = As::function, .apart = true}),
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
  op<&stack>(m, "stack(tensors, dim=0, *, out=None)", stored({.as = As::function, .apart = true}),
             R"(Joins tensors of one shape along a new dimension.

Args:
    tensors: a sequence of tensors of one shape.
    dim: the index of the new dimension.

Shape:
    k tensors (*) give (*, k, *), with k in dim.

>>> torch.stack([torch.tensor([1, 2]), torch.tensor([3, 4])])
tensor([[1, 2],
        [3, 4]]))");
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
}

}  // namespace rushlight::python
