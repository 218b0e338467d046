// Copies of a tensor side by side, and of each element: see csrc/ops/repeat.cpp.
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/join.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using Count = std::optional<std::int64_t>;

Tensor repeat_op(const Tensor& self, Shape repeats) { return repeat(self, repeats); }
Tensor tile_op(const Tensor& input, Listed dims) { return tile(input, dims); }
Tensor tile_method(const Tensor& self, Shape dims) { return tile(self, dims); }
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

void bind_repeat(py::module_& m) {
  op<&repeat_op>(m, "repeat(self, *repeats)", stored(As::method),
                 R"(Copies of the tensor joined along each dimension.

Args:
    repeats: how many copies for each dimension; further ones come in front.

Shape:
    each size of input is multiplied by its count.

>>> torch.tensor([1, 2]).repeat(2)
tensor([1, 2, 1, 2]))");
  op<&tile_method>(m, "tile(self, *dims)", stored(As::method), "torch.tile() as a method.");
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
      by_parts(As::both),
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
