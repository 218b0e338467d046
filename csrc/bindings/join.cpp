// Joining, cutting and repeating: see csrc/ops/join.cpp.
#include "bindings/forms.h"
#include "bindings/module.h"
#include "bindings/signature.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

std::vector<Tensor> split_list(const Tensor& tensor, std::vector<std::int64_t> sizes,
                               std::int64_t dim) {
  return split_sizes(tensor, sizes, dim);
}
Tensor repeat_op(const Tensor& self, Shape repeats) { return repeat(self, repeats); }
Tensor tile(const Tensor& input, Shape dims) {
  Shape padded;
  for (int d = dims.rank; d < input.dim(); ++d) padded.push_back(1);
  for (std::int64_t n : dims) padded.push_back(n);
  return repeat(input, padded);
}
Tensor flip_function(const Tensor& input, Shape dims) { return flip(input, dims); }
Tensor roll_op(const Tensor& input, Shape shifts, Shape dims) { return roll(input, shifts, dims); }

}  // namespace

void bind_join(py::module_& m) {
  op_with_out<&cat>(m, "cat(tensors, dim=0, *, out=None)", As::function,
                    R"(Tensors joined along a dimension; all other sizes must agree.

Args:
    tensors: a list or tuple of tensors on one device.
    dim: the dimension along which to join.

Raises:
    RuntimeError: if sizes or devices differ, or the list is empty.

>>> torch.cat([torch.tensor([1]), torch.tensor([2, 3])])
tensor([1, 2, 3]))");
  for (const char* name : {"concat", "concatenate"}) publish_alias(m, As::function, "cat", name);
  op_with_out<&stack>(
      m, "stack(tensors, dim=0, *, out=None)", As::function,
      "Tensors of one shape joined along a new dimension.\n\n>>> torch.stack([torch.tensor([1, "
      "2]), torch.tensor([3, 4])])\ntensor([[1, 2],\n        [3, 4]])");
  overloads<&split, &split_list>(
      m, {"split(tensor, split_size, dim=0)", "split(tensor, split_size, dim=0)"}, {.copy = true},
      "Views of parts of a dimension: of one size, or of the sizes in a list.\n\n>>> "
      "torch.arange(5).split(2)\n(tensor([0, 1]), tensor([2, 3]), tensor([4]))");
  op<&split_list, 2>(m, "split_with_sizes(input, split_sizes, dim=0)", {.copy = true},
                     R"(Views of parts of a dimension, of the sizes in a list.

    >>> torch.split_with_sizes(torch.arange(5), [2, 3])
    (tensor([0, 1]), tensor([2, 3, 4]))
)");
  op<&chunk>(m, "chunk(input, chunks, dim=0)", As::both,
             "At most `chunks` views of equal size along a dimension; the last may be "
             "smaller.\n\n>>> torch.arange(5).chunk(2)\n(tensor([0, 1, 2]), tensor([3, 4]))");
  op<&unbind>(m, "unbind(input, dim=0)", {.copy = true},
              "All indices of a dimension as views.\n\n>>> torch.arange(2).unbind()\n(tensor(0), "
              "tensor(1))");
  op<&repeat_op>(m, "repeat(self, *repeats)", As::method,
                 "Copies of the tensor side by side.\n\n>>> torch.tensor([1, "
                 "2]).repeat(2)\ntensor([1, 2, 1, 2])");
  op<&tile, 1>(m, "tile(self, *dims)", As::method, "See torch.tile().");
  op<&tile>(m, "tile(input, dims)", As::function,
            "Like repeat(), with missing leading counts taken as 1.\n\n>>> torch.tensor([1, "
            "2]).tile((2,))\ntensor([1, 2, 1, 2])");
  op<&flip_function>(m, "flip(input, dims)", As::function,
                     "The order of indices reversed along dims.\n\n>>> torch.flip(torch.arange(3), "
                     "(0,))\ntensor([2, 1, 0])");
  op<&flip_function, 1>(m, "flip(self, *dims)", As::method,
                        "The order of indices reversed along dims.");
  op<&roll_op>(m, "roll(input, shifts, dims=())", As::both,
               "Elements moved along dims, around the end.\n\n>>> "
               "torch.arange(3).roll(1)\ntensor([2, 0, 1])");
}

}  // namespace rushlight::python
