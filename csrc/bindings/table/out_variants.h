// out= and in-place forms, for the bindings that do not leave them to their row (signature.h).
#pragma once
#include <optional>

#include "arguments.h"
#include "ops/pointwise/pointwise.h"

namespace rushlight::python {

using Out = std::optional<Tensor>;

// The result, written to `out` where that is given.
Tensor deliver(const char* op, const Out& out, Tensor result);
// Of a factory: a new tensor is made with the dtype and on the device of `out`, if there is one...
void take_options_of(const Out& out, std::optional<DType>& dtype, std::optional<Device>& device);
// ...and is delivered: requires_grad is then set on what the user gets.
Tensor deliver_new(const char* op, const Out& out, Tensor made, bool requires_grad);
// The result written to the first argument, through which its history then goes.
Tensor written_to_self(const Tensor& self, const Tensor& result, const std::string& name);

}  // namespace rushlight::python
