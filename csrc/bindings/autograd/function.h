// A Function's ctx, for what reads it through grad_fn.
#pragma once

#include <pybind11/pybind11.h>

#include "autograd/node.h"

namespace rushlight::python {

pybind11::handle context_of(const Node& n);  // null for an operation of C++

}  // namespace rushlight::python
