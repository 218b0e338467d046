// Calls of the kernels that compute with complex numbers as they lie.
#include "checks.h"
#include "complex.h"
#include "core/backend.h"
#include "core/unlocked.h"
#include "geometry.h"

namespace rushlight {

Tensor of_pairs(ComplexFormula f, const Input* in, int inputs, DType dtype, double alpha,
                const Tensor* target) {
  const DType part = real_of(dtype);
  const Tensor* first = nullptr;
  for (int i = 0; i < inputs; ++i)
    if (in[i].tensor && (!first || !first->dim())) first = in[i].tensor;
  const Device device = first->device();
  if (dtype == DType::complex32 || device.is_meta()) return {};
  const auto kernel = backend(device).pointwise->complex;
  if (!kernel) return {};
  const GradMode off(false);
  Tensor operands[2];
  Shape shape = first->shape();
  bool dense = !target || target->is_contiguous();
  for (int i = 0; i < inputs; ++i) {
    if (!in[i].tensor) continue;
    const Tensor& t = *in[i].tensor;
    const bool as_it_is = (t.dtype() == dtype || t.dtype() == part) && t.device() == device;
    operands[i] = as_it_is ? t : to(t, dtype, device);
    if (target && needs_copy(*target, operands[i])) operands[i] = clone(operands[i]);
    if (!(t.shape() == shape)) shape = broadcast(shape, t.sizes());
  }
  for (int i = 0; i < inputs; ++i)
    dense &= !operands[i] || (operands[i].is_contiguous() && operands[i].shape() == shape);
  const Scalar parameter(alpha);
  PointwiseCall call;
  call.parameters = &parameter;
  call.computes = computes(part, false);
  CallGeometry geometry(shape, numel_of(shape), dense, true);
  Tensor out = target ? *target : Tensor();
  if (out) geometry.bind(call.out[0], out);
  for (int i = 0; i < inputs; ++i) {
    if (operands[i])
      geometry.bind(call.in[i], operands[i]);
    else
      geometry.bind(call.in[i], in[i].scalar);
  }
  if (!out) out = geometry.make(call.out[0], f == ComplexFormula::size ? part : dtype, device);
  geometry.finish(call);
  const Tensor *a = operands[0] ? &operands[0] : &out, *b = operands[1] ? &operands[1] : &out;
  Unlocked free(double(call.numel), {&out, a, b});
  kernel(f, call);
  return out;
}

}  // namespace rushlight
