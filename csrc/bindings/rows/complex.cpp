// Functions that make complex numbers, take them apart, or ask whether they wait for a conjugation,
// which none does here.
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "ops/ops.h"
#include "ops/pointwise/pointwise.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

template <int>  // one entry of the module per name
Tensor input_itself(const Tensor& input) {
  return input;
}
Tensor conj_in_place(const Tensor& input) {
  copy_(input, conj(input));
  return input;
}
template <int>
bool never(const Tensor&) {
  return false;
}
Tensor complex_of_parts(const Tensor& real, const Tensor& imag) { return complex_of(real, imag); }
Tensor isreal(const Tensor& input) {
  if (is_complex(input.dtype())) return apply<Eq>(imag(detach(input)), Scalar(0));
  return full(input.shape(), Scalar(true), DType::boolean, input.device());
}

}  // namespace

void bind_complex(py::module_& m) {
  op<&view_as_real>(m, "view_as_real(input)", stored({.as = As::function, .copy = true}),
                    R"(A view of a complex tensor as pairs of a real and an imaginary part.

Shape:
    input (*) gives (*, 2).

>>> torch.view_as_real(torch.tensor([1 + 2j]))
tensor([[1., 2.]]))");
  op<&view_as_complex>(m, "view_as_complex(input)", stored({.as = As::function, .copy = true}),
                       R"(A view of pairs of a real and an imaginary part as complex numbers.

Shape:
    input (*, 2) gives (*).

Raises:
    RuntimeError: if the pairs do not lie side by side, or input is not floating-point.

>>> torch.view_as_complex(torch.tensor([[1.0, 2.0]]))
tensor([1.+2.j]))");
  op<&complex_of_parts>(m, "complex(real, imag, *, out=None)",
                        stored({.as = As::function, .exact = true}),
                        R"(A complex tensor of its real and its imaginary parts.

Args:
    real: the real parts.
    imag: the imaginary parts, of the same dtype.

Shape:
    the operands broadcast.

>>> torch.complex(torch.tensor([1.0]), torch.tensor([2.0]))
tensor([1.+2.j]))");
  op<&imag>(m, "imag(input)", stored(As::function),
            R"(A view of the imaginary parts of a complex tensor.

Shape:
    that of input.

Raises:
    RuntimeError: for a real tensor.

>>> torch.imag(torch.tensor([1 + 2j]))
tensor([2.]))");
  op<&rushlight::real>(m, "real(input)", stored(As::function),
                       R"(A view of the real parts: of a real tensor the tensor itself.

Shape:
    that of input.

>>> torch.real(torch.tensor([1.0]))
tensor([1.]))");
  op<&polar>(m, "polar(abs, angle, *, out=None)", stored({.as = As::function, .exact = true}),
             R"(Complex numbers of their distance from 0 and their angle: abs exp(i angle).

Args:
    abs: the distances.
    angle: in radians, of the same dtype.

Shape:
    the operands broadcast.

>>> torch.polar(torch.tensor([1.0, 2.0]), torch.tensor([0.0, torch.pi / 2])).imag
tensor([0., 2.]))");
  op<&conj>(m, "conj(input)", stored(As::both),
            R"(The conjugate: a copy, where torch has a view; of a real tensor the tensor itself.

Shape:
    that of input.

>>> torch.conj(torch.tensor([1 + 2j]))
tensor([1.-2.j]))");
  op<&input_itself<2>>(m, "resolve_conj(input)", stored(As::both),
                       R"(The tensor itself: no conjugate is pending.

Shape:
    that of input.

>>> torch.resolve_conj(torch.tensor([1.0]))
tensor([1.]))");
  op<&input_itself<3>>(m, "resolve_neg(input)", stored(As::both),
                       R"(The tensor itself: no negation is pending.

Shape:
    that of input.

>>> torch.resolve_neg(torch.tensor([1.0]))
tensor([1.]))");
  op<&never<1>>(m, "is_conj(input)", stored(As::both),
                R"(False: no conjugate is pending.

Shape:
    input may have any shape.

>>> torch.is_conj(torch.tensor([1.0]))
False)");
  op<&never<2>>(m, "is_neg(input)", stored(As::both),
                R"(False: no negation is pending.

Shape:
    input may have any shape.

>>> torch.is_neg(torch.tensor([1.0]))
False)");
  op<&conj, 1>(m, "conj_physical(input, *, out=None)", stored(As::both),
               R"(The conjugate: of a real tensor the tensor itself, or a copy in out.

Shape:
    that of input.

>>> torch.conj_physical(torch.tensor([1.0]))
tensor([1.]))");
  op<&conj_in_place>(m, "conj_physical_(input)", with_complex(As::both),
                     "conj_physical() in place.");
  op<&isreal>(m, "isreal(input)", stored(As::both),
              R"(Where the imaginary part is 0: everywhere in a real tensor.

Shape:
    that of input.

>>> torch.isreal(torch.tensor([1.0]))
tensor([True]))");
}

}  // namespace rushlight::python
