// Functions of complex numbers: all numbers here are real, so most hand back their input.
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

template <int>  // one entry of the module per name
Tensor input_itself(const Tensor& input) {
  return input;
}
Tensor isreal(const Tensor& input) {
  return full(input.shape(), Scalar(true), DType::boolean, input.device());
}

}  // namespace

void bind_complex(py::module_& m) {
  op<&input_itself<0>>(m, "real(input)", As::function,
                       R"(The real part: of a real tensor the tensor itself.

Shape:
    that of input.

>>> torch.real(torch.tensor([1.0]))
tensor([1.]))");
  op<&input_itself<1>>(m, "conj(input)", As::both,
                       R"(The conjugate: of a real tensor the tensor itself.

Shape:
    that of input.

>>> torch.conj(torch.tensor([1.0]))
tensor([1.]))");
  op<&input_itself<2>>(m, "resolve_conj(input)", As::both,
                       R"(The tensor itself: no conjugate is pending.

Shape:
    that of input.

>>> torch.resolve_conj(torch.tensor([1.0]))
tensor([1.]))");
  op<&input_itself<3>>(m, "resolve_neg(input)", As::both,
                       R"(The tensor itself: no negation is pending.

Shape:
    that of input.

>>> torch.resolve_neg(torch.tensor([1.0]))
tensor([1.]))");
  op<&input_itself<4>>(m, "conj_physical(input, *, out=None)", As::both,
                       R"(The conjugate: of a real tensor the tensor itself, or a copy in out.

Shape:
    that of input.

>>> torch.conj_physical(torch.tensor([1.0]))
tensor([1.]))");
  op<&input_itself<5>>(m, "conj_physical_(input)", As::both, "conj_physical() in place.");
  op<&isreal>(m, "isreal(input)", As::both,
              R"(True for every element: all numbers here are real.

Shape:
    that of input.

>>> torch.isreal(torch.tensor([1.0]))
tensor([True]))");
}

}  // namespace rushlight::python
