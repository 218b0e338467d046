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
  op<&tril>(m, "tril(input, diagonal=0, *, out=None)",
            by_parts({.in_place = As::method, .exact = true}),
            R"(The lower triangle of the last two dimensions; zeros above the diagonal.

Args:
    input: at least a matrix.
    diagonal: 0 is the main diagonal, 1 the one above it, -1 the one below it.

Shape:
    input (*, n, m) gives the same.

>>> torch.tril(torch.ones(2, 2))
tensor([[1., 0.],
        [1., 1.]]))");
  op<&triu>(m, "triu(input, diagonal=0, *, out=None)",
            by_parts({.in_place = As::method, .exact = true}),
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
}

}  // namespace rushlight::python
