// What the rows that make tensors share: the options that they are called with, and `out`.
#pragma once
#include "bindings/formats.h"
#include "bindings/table/out_variants.h"
#include "ops/ops.h"

namespace rushlight::python {

// The requested dtype and device; with an `out`, its own, from which the dtype may not differ.
struct Chosen {
  std::optional<DType> dtype;
  std::optional<Device> device;
  Chosen(const Out& out, const std::optional<DType>& d, const std::optional<Device>& v)
      : dtype(d), device(v) {
    take_options_of(out, dtype, device);
  }
};

// make(dtype, device), written to `out` if there is one: then its dtype and device are what they
// would be by default.
template <class Make>
Tensor created(const char* op, const Out& out, const std::optional<DType>& dtype,
               const std::optional<Device>& device, bool requires_grad, Make make) {
  if (!out) [[likely]]
    return finish(make(dtype, device), requires_grad);
  const Chosen of_out(out, dtype, device);
  return deliver_new(op, out, make(of_out.dtype, of_out.device), requires_grad);
}

}  // namespace rushlight::python
