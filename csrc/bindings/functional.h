// The families that torch.nn.functional has beside torch's functions of the same name: one bind
// function each, called by bind_functional with the module _functional.
#pragma once
#include "bindings/python_tensor.h"

namespace rushlight::python {

void bind_pool_functional(pybind11::module_& m);

}  // namespace rushlight::python
