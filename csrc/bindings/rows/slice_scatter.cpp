// Copies in which a view holds other values: see csrc/ops/slice_scatter.cpp.
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/index/index.h"

namespace py = pybind11;

namespace rushlight::python {

void bind_slice_scatter(py::module_& m) {
  op<&select_scatter>(m, "select_scatter(input, src, dim, index, *, out=None)", As::both,
                      R"(A copy of input with src at one index of a dimension.

    >>> torch.select_scatter(torch.zeros(2, 2), torch.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
)");
  op<&slice_scatter>(
      m, "slice_scatter(input, src, dim=0, start=None, end=None, step=1, *, out=None)", As::both,
      R"(A copy of input with src in a slice of a dimension.

    >>> torch.slice_scatter(torch.zeros(3), torch.ones(2), 0, 1)
    tensor([0., 1., 1.])
)");
  op<&diagonal_scatter>(m, "diagonal_scatter(input, src, offset=0, dim1=0, dim2=1, *, out=None)",
                        As::both,
                        R"(A copy of input with src on a diagonal.

    >>> torch.diagonal_scatter(torch.zeros(2, 2), torch.ones(2))
    tensor([[1., 0.],
            [0., 1.]])
)");
  op<&as_strided_scatter>(
      m, "as_strided_scatter(input, src, size, stride, storage_offset=None, *, out=None)", As::both,
      R"(A copy of input with src where as_strided() points; its layout is that of input.

    >>> torch.as_strided_scatter(torch.zeros(4), torch.ones(2), (2,), (2,))
    tensor([1., 0., 1., 0.])
)");
}

}  // namespace rushlight::python
