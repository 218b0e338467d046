// Called by bind_matmul.
#pragma once
#include "bindings/tensor/python_tensor.h"

namespace rushlight::python {

void bind_linalg(pybind11::module_& m);

}  // namespace rushlight::python
