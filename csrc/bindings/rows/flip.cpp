// Reversed, rotated and rolled dimensions: see csrc/ops/flip.cpp.
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/join.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

Tensor flip_op(const Tensor& input, Listed dims) { return flip(input, dims); }
Tensor flip_method(const Tensor& self, Shape dims) { return flip(self, dims); }
Tensor roll_op(const Tensor& input, Shape shifts, std::optional<Shape> dims) {
  return roll(input, shifts, dims.value_or(Shape()));
}
Tensor rot90_op(const Tensor& input, std::int64_t k, Shape dims) { return rot90(input, k, dims); }

}  // namespace

void bind_flip(py::module_& m) {
  op<&flip_op>(m, "flip(input, dims)", stored(As::function),
               R"(A copy with the order of indices reversed along dims.

Args:
    dims: the dimensions; negative ones count from the last.

Shape:
    that of input.

>>> torch.flip(torch.arange(3), (0,))
tensor([2, 1, 0]))");
  op<&flip_method>(m, "flip(self, *dims)", stored(As::method), "torch.flip() as a method.");
  op<&roll_op>(
      m, "roll(input, shifts, dims=None)", stored(As::both),
      R"(A copy with elements shifted along dims; those beyond the end return at the beginning.

Args:
    shifts: by how many indices, one number or one for each of dims.
    dims: the dimensions; () for the flattened tensor.

Shape:
    that of input.

>>> torch.arange(3).roll(1)
tensor([2, 0, 1]))");
  op<&rot90_op>(m, "rot90(input, k=1, dims=(0, 1))", stored(As::both),
                R"(A copy rotated by k times 90 degrees, from the first of dims towards the second.

Args:
    k: how many times; negative ones rotate the other way.
    dims: the plane of the rotation.

Shape:
    that of input, the two sizes swapped for odd k.

>>> torch.rot90(torch.tensor([[1, 2], [3, 4]]))
tensor([[2, 4],
        [1, 3]]))");
  op<&fliplr>(m, "fliplr(input)", stored(As::both),
              R"(The second dimension reversed.

Shape:
    that of input.

>>> torch.fliplr(torch.tensor([[1, 2], [3, 4]]))
tensor([[2, 1],
        [4, 3]]))");
  op<&flipud>(m, "flipud(input)", stored(As::both),
              R"(The first dimension reversed.

Shape:
    that of input.

>>> torch.flipud(torch.tensor([[1, 2], [3, 4]]))
tensor([[3, 4],
        [1, 2]]))");
}

}  // namespace rushlight::python
