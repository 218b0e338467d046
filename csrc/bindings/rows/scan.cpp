// Running reductions as functions and methods.
#include "ops/scan.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {

void bind_scan(py::module_& m) {
  op<&cumsum>(m, "cumsum(input, dim, *, dtype=None, out=None)",
              with_complex({.autocast = kFullOnCuda,
                            .in_place = As::method,
                            .exact = true,
                            .in_dtype_of_out = true}),
              R"(The cumulative sum along dim: y_i = x_0 + ... + x_i.

Args:
    dtype: the dtype to convert to first; None for input's, and int64 for integers.

Shape:
    that of input.

>>> torch.tensor([1, 2, 3]).cumsum(0)
tensor([1, 3, 6]))");
  op<&cumprod>(m, "cumprod(input, dim, *, dtype=None, out=None)",
               with_complex({.autocast = kFullOnCuda,
                             .in_place = As::method,
                             .keeps_input = true,
                             .exact = true,
                             .in_dtype_of_out = true}),
               R"(The cumulative product along dim: y_i = x_0 * ... * x_i.

Args:
    dtype: the dtype to convert to first; None for input's, and int64 for integers.

Shape:
    that of input.

>>> torch.cumprod(torch.tensor([1, 2, 3]), 0)
tensor([1, 2, 6]))");
  op<&logcumsumexp>(m, "logcumsumexp(input, dim, *, out=None)",
                    with_complex({.as = As::both, .exact = true}),
                    R"(The logarithm of the cumulative sum of exp(x) along dim.

Shape:
    that of input.

>>> torch.logcumsumexp(torch.tensor([0., 0., 0.]), 0)
tensor([0.0000, 0.6931, 1.0986]))");
  op<&cummax>(m, "cummax(input, dim, *, out=None) -> (values, indices)", As::both,
              R"(The cumulative maximum along dim, and the last index where it occurred.

Shape:
    that of input.

>>> torch.cummax(torch.tensor([1, 3, 2]), 0)
torch.return_types.cummax(
values=tensor([1, 3, 3]),
indices=tensor([0, 1, 1])))");
  op<&cummin>(m, "cummin(input, dim, *, out=None) -> (values, indices)", As::both,
              R"(The cumulative minimum along dim, and the last index where it occurred.

Shape:
    that of input.

>>> torch.cummin(torch.tensor([3, 1, 2]), 0)
torch.return_types.cummin(
values=tensor([3, 1, 1]),
indices=tensor([0, 1, 1])))");
}

}  // namespace rushlight::python
