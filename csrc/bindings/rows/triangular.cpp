// Triangles and diagonals: see csrc/ops/triangular.h.
#include "ops/triangular.h"

#include "bindings/formats.h"
#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

template <Tensor (*F)(std::int64_t, std::int64_t, std::int64_t, Device)>
Tensor indices_op(std::int64_t row, std::int64_t col, std::int64_t offset,
                  std::optional<DType> dtype, AnyLayout, std::optional<Device> device,
                  bool pin_memory, bool requires_grad) {
  Options o;
  o.device = device;
  o.requires_grad = requires_grad;
  o.pin_memory = pin_memory;
  return finish(to(F(row, col, offset, device_of(o)), dtype.value_or(DType::int64)), o);
}

}  // namespace

void bind_triangular(py::module_& m) {
  op<&tril>(m, "tril(input, diagonal=0, *, out=None)", {.in_place = As::method},
            R"(The lower triangle of the last two dimensions; zeros above the diagonal.

Args:
    input: at least a matrix.
    diagonal: 0 is the main diagonal, 1 the one above it, -1 the one below it.

Shape:
    input (*, n, m) gives the same.

>>> torch.tril(torch.ones(2, 2))
tensor([[1., 0.],
        [1., 1.]]))");
  op<&triu>(m, "triu(input, diagonal=0, *, out=None)", {.in_place = As::method},
            R"(The upper triangle of the last two dimensions; zeros below the diagonal.

Args:
    input: at least a matrix.
    diagonal: 0 is the main diagonal, 1 the one above it, -1 the one below it.

Shape:
    input (*, n, m) gives the same.

>>> torch.triu(torch.ones(2, 2))
tensor([[1., 1.],
        [0., 1.]]))");
  op<&indices_op<&tril_indices>>(
      m,
      "tril_indices(row, col, offset=0, *, dtype=None, layout=None, device=None, "
      "pin_memory=False, requires_grad=False)",
      As::function,
      R"(The row and the column indices of a matrix's lower triangle, in row-major order.

Args:
    row: the number of rows of the matrix.
    col: the number of its columns.
    offset: the diagonal, as in tril().
    dtype: the dtype of the result; None for int64.

Shape:
    the result is (2, n) for n elements.

>>> torch.tril_indices(2, 2)
tensor([[0, 1, 1],
        [0, 0, 1]]))");
  op<&indices_op<&triu_indices>>(
      m,
      "triu_indices(row, col, offset=0, *, dtype=None, layout=None, device=None, "
      "pin_memory=False, requires_grad=False)",
      As::function,
      R"(The row and the column indices of a matrix's upper triangle, in row-major order.

Args:
    row: the number of rows of the matrix.
    col: the number of its columns.
    offset: the diagonal, as in triu().
    dtype: the dtype of the result; None for int64.

Shape:
    the result is (2, n) for n elements.

>>> torch.triu_indices(2, 2)
tensor([[0, 0, 1],
        [0, 1, 1]]))");
  op<&diag>(m, "diag(input, diagonal=0, *, out=None)", As::both,
            R"(A matrix with a vector on a diagonal, or the diagonal of a matrix.

Args:
    diagonal: 0 is the main diagonal, positive ones are above it, negative ones below.

Shape:
    input (n) gives (n + |diagonal|, n + |diagonal|); a matrix gives the vector of its diagonal.

>>> torch.diag(torch.tensor([1, 2]))
tensor([[1, 0],
        [0, 2]]))");
  op<&diagflat>(m, "diagflat(input, offset=0)", As::both,
                R"(A matrix with all elements of input on a diagonal.

Args:
    offset: 0 is the main diagonal, positive ones are above it, negative ones below.

Shape:
    n elements give (n + |offset|, n + |offset|).

>>> torch.diagflat(torch.tensor([[1], [2]]))
tensor([[1, 0],
        [0, 2]]))");
  op<&diag_embed>(m, "diag_embed(input, offset=0, dim1=-2, dim2=-1)", As::both,
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
  op<&trace>(m, "trace(input)", {.autocast = kFullOnCpu},
             R"(The sum of the main diagonal of a matrix.

Shape:
    input (n, m) gives ().

>>> torch.trace(torch.eye(3))
tensor(3.))");
}

}  // namespace rushlight::python
