// Softmax and its logarithm.
#include "ops/softmax.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
void bind_softmax(py::module_& m) {
  op<&softmax>(m, "softmax(input, dim, dtype=None, *, out=None)",
               with_complex({.autocast = kFullOnCuda, .exact = true}),
               R"(exp(x) / sum(exp(x)) along a dimension.

Args:
    dtype: the dtype that input is converted to first; None for its own.

Shape:
    that of input.

>>> torch.softmax(torch.tensor([0., 0.]), 0)
tensor([0.5000, 0.5000]))");
  op<&log_softmax>(m, "log_softmax(input, dim, dtype=None, *, out=None)",
                   with_complex({.autocast = kFullOnCuda, .exact = true}),
                   R"(log(softmax(x)), computed without loss for small probabilities.

Args:
    dtype: the dtype that input is converted to first; None for its own.

Shape:
    that of input.

>>> torch.log_softmax(torch.tensor([0., 0.]), 0)
tensor([-0.6931, -0.6931]))");
}

}  // namespace rushlight::python
