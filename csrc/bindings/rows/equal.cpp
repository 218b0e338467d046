// Comparisons of whole tensors, and closeness: see csrc/ops/equal.cpp.
#include "bindings/module.h"
#include "bindings/table/out_variants.h"
#include "bindings/table/signature.h"
#include "ops/index/index.h"

namespace py = pybind11;

namespace rushlight::python {

void bind_equal(py::module_& m) {
  op<&equal>(m, "equal(input, other)", stored(As::both),
             R"(Whether two tensors have one shape and equal elements.

Args:
    other: the other tensor, of the same dtype.

Shape:
    any two.

>>> torch.equal(torch.ones(2), torch.ones(2))
True)");
  op<&isclose>(m, "isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False)",
               stored(with_complex(As::both)),
               R"(Where |input - other| <= atol + rtol * |other|.

Args:
    other: broadcast with input.
    rtol: the relative tolerance.
    atol: the absolute tolerance.
    equal_nan: whether NaN is close to NaN.

Shape:
    the common shape of input and other.

>>> torch.isclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]))
tensor([ True, False]))");
  op<&allclose>(m, "allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False)",
                stored(with_complex(As::both)),
                R"(Whether isclose() holds for all elements, a bool.

Args:
    other: broadcast with input.
    rtol: the relative tolerance.
    atol: the absolute tolerance.
    equal_nan: whether NaN is close to NaN.

Shape:
    input and other broadcast.

>>> torch.allclose(torch.ones(2), torch.ones(2) + 1e-9)
True)");
}

}  // namespace rushlight::python
