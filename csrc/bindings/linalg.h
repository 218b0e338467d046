// Called by bind_matmul.
#pragma once
#include <pybind11/pybind11.h>

namespace rushlight::python {

void bind_linalg(pybind11::module_& m);

}  // namespace rushlight::python
