// out= and in-place forms, for the bindings that do not leave them to their row (signature.h).
#pragma once
#include <optional>

#include "arguments.h"
#include "ops/pointwise/pointwise.h"

namespace rushlight::python {

using Out = std::optional<Tensor>;

// The result, written to `out` where that is given.
Tensor deliver(const char* op, const Out& out, Tensor result);
// The result written to the first argument, through which its history then goes.
Tensor written_to_self(const Tensor& self, const Tensor& result, const std::string& name);

}  // namespace rushlight::python
