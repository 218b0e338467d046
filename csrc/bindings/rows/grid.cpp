// Grids, block matrices and differences: see csrc/ops/grid.h. Those that take any number of tensors
// have their public rows in python/rushlight/functional.py.
#include "ops/grid.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {

static std::vector<Tensor> meshgrid_op(const std::vector<Tensor>& vectors, bool xy) {
  return meshgrid(vectors, xy);
}

void bind_grid(py::module_& m) {
  op<&meshgrid_op>(m, "_meshgrid(vectors, xy)", As::function,
                   "Each vector expanded to the shape of the grid that all of them span.");
  op<&cartesian_prod>(m, "_cartesian_prod(vectors)", As::function,
                      "All combinations of the elements of vectors, one in each row.");
  op<&block_diag>(m, "_block_diag(blocks)", As::function,
                  "A matrix with these blocks on its diagonal.");
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
