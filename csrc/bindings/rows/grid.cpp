// Grids, block matrices and differences: see csrc/ops/grid.h.
#include "ops/grid.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "functional.h"

namespace py = pybind11;

namespace rushlight::python {

static std::vector<Tensor> meshgrid_op(const std::vector<Tensor>& tensors,
                                       const std::optional<std::string_view>& indexing) {
  if (!indexing)
    warn_at(
        "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
        "argument.",
        1);
  else if (indexing != "ij" && indexing != "xy")
    fail<RuntimeError>("torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ",
                       *indexing);
  return meshgrid(tensors, indexing == "xy");
}

void bind_grid(py::module_& m) {
  op<&meshgrid_op>(m, "meshgrid(*tensors, indexing=None)", As::function,
                   R"(Coordinates of a grid: one tensor per vector, all of the grid's shape.

Args:
    tensors: vectors, or one sequence of them.
    indexing: "ij" (the default) or "xy", which swaps the first two dimensions.

>>> torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4]), indexing="ij")[0]
tensor([[1, 1],
        [2, 2]]))");
  op<&cartesian_prod>(m, "cartesian_prod(*tensors)", As::function,
                      R"(All combinations of the elements of vectors, one per row.

Args:
    tensors: the vectors, or one sequence of them.

>>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))
tensor([[1, 3],
        [1, 4],
        [2, 3],
        [2, 4]]))");
  op<&block_diag>(m, "block_diag(*tensors)", As::function,
                  R"(A block diagonal matrix.

Args:
    tensors: the blocks, or one sequence of them: matrices, vectors (rows) or scalars.

>>> torch.block_diag(torch.tensor([[1, 2]]), torch.tensor([[3]]))
tensor([[1, 2, 0],
        [0, 0, 3]]))");
  op<&kron>(m, "kron(input, other, *, out=None)", As::both,
            R"(The Kronecker product: the blocks input[i, j] * other.

Args:
    other: the second factor.

Shape:
    input (m, n), other (p, q) give (m p, n q); a missing dimension has size 1.

>>> torch.kron(torch.eye(2), torch.ones(1, 2))
tensor([[1., 1., 0., 0.],
        [0., 0., 1., 1.]]))");
  op<&diff>(m, "diff(input, n=1, dim=-1, prepend=None, append=None, *, out=None)", As::both,
            R"(Differences of neighbours along a dimension.

Args:
    n: how many times differences are taken.
    prepend: elements before those of input; None for no others.
    append: elements after those of input; None for no others.

Shape:
    that of input with n elements less in dim.

>>> torch.diff(torch.tensor([1, 3, 6]))
tensor([2, 3]))");
}

}  // namespace rushlight::python
