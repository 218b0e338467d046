// Diagonals as vectors and matrices: see csrc/ops/diagonal.cpp.
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/triangular.h"

namespace py = pybind11;

namespace rushlight::python {

void bind_diagonal(py::module_& m) {
  op<&diag>(m, "diag(input, diagonal=0, *, out=None)", by_parts({.as = As::both, .exact = true}),
            R"(A matrix with a vector on a diagonal, or the diagonal of a matrix.

Args:
    diagonal: 0 is the main diagonal, positive ones are above it, negative ones below.

Shape:
    input (n) gives (n + |diagonal|, n + |diagonal|); a matrix gives the vector of its diagonal.

>>> torch.diag(torch.tensor([1, 2]))
tensor([[1, 0],
        [0, 2]]))");
  op<&diagflat>(m, "diagflat(input, offset=0)", by_parts(As::both),
                R"(A matrix with all elements of input on a diagonal.

Args:
    offset: 0 is the main diagonal, positive ones are above it, negative ones below.

Shape:
    n elements give (n + |offset|, n + |offset|).

>>> torch.diagflat(torch.tensor([[1], [2]]))
tensor([[1, 0],
        [0, 2]]))");
  op<&diag_embed>(m, "diag_embed(input, offset=0, dim1=-2, dim2=-1)", by_parts(As::both),
                  R"(Matrices whose diagonal is the last dimension of input.

Args:
    offset: 0 is the main diagonal, positive ones are above it, negative ones below.
    dim1: the dimension of the result for the rows.
    dim2: the dimension of the result for the columns.

Shape:
    input (*, n) gives (*, m, m) with m = n + |offset|.

>>> torch.diag_embed(torch.tensor([1, 2]))
tensor([[1, 0],
        [0, 2]]))");
  op<&trace>(m, "trace(input)", by_parts({.autocast = kFullOnCpu}),
             R"(The sum of the main diagonal of a matrix.

Shape:
    input (n, m) gives ().

>>> torch.trace(torch.eye(3))
tensor(3.))");
}

}  // namespace rushlight::python
