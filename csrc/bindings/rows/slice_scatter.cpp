// Copies in which a view holds other values: see csrc/ops/slice_scatter.cpp.
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/index/index.h"

namespace py = pybind11;

namespace rushlight::python {

void bind_slice_scatter(py::module_& m) {
  op<&select_scatter>(m, "select_scatter(input, src, dim, index, *, out=None)", As::both,
                      R"(A copy of input with src written at one index of a dimension.

Args:
    src: the slice; the shape of input.select(dim, index).
    index: the index.

Shape:
    the result has the shape of input.

>>> torch.select_scatter(torch.zeros(2, 2), torch.ones(2), 0, 1)
tensor([[0., 0.],
        [1., 1.]]))");
  op<&slice_scatter>(m,
                     "slice_scatter(input, src, dim=0, start=None, end=None, step=1, *, out=None)",
                     with_complex({.as = As::both, .exact = true}),
                     R"(A copy of input with src written to a slice of a dimension.

Args:
    src: the shape of the slice.
    start: the first index; None for 0.
    end: the index after the last; None for the size.
    step: the step between indices, at least 1.

Shape:
    the result has the shape of input.

>>> torch.slice_scatter(torch.zeros(3), torch.ones(2), 0, 1)
tensor([0., 1., 1.]))");
  op<&diagonal_scatter>(m, "diagonal_scatter(input, src, offset=0, dim1=0, dim2=1, *, out=None)",
                        with_complex(As::both),
                        R"(A copy of input with src written to a diagonal.

Args:
    src: the shape of input.diagonal(offset, dim1, dim2).
    offset: 0 is the main diagonal, positive ones are above it, negative ones below.
    dim1: the dimension of the rows.
    dim2: the dimension of the columns.

Shape:
    the result has the shape of input.

>>> torch.diagonal_scatter(torch.zeros(2, 2), torch.ones(2))
tensor([[1., 0.],
        [0., 1.]]))");
  op<&as_strided_scatter>(
      m, "as_strided_scatter(input, src, size, stride, storage_offset=None, *, out=None)",
      with_complex(As::both),
      R"(A copy of input with src written to the view that as_strided() gives.

Args:
    src: the shape of that view.
    stride: the stride of each dimension of the view, in elements.
    storage_offset: the index of the view's first element; None for input's.

Shape:
    the result has the shape and strides of input.

>>> torch.as_strided_scatter(torch.zeros(4), torch.ones(2), (2,), (2,))
tensor([1., 0., 1., 0.]))");
}

}  // namespace rushlight::python
