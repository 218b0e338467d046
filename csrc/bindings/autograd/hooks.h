// Hooks of nodes in Python.
#pragma once
#include <pybind11/pybind11.h>

#include "autograd/node.h"

namespace rushlight::python {

// What they return removes the hook.
pybind11::object hook_before(Node& node, pybind11::object function);
pybind11::object hook_after(Node& node, pybind11::object function);
void bind_hooks(pybind11::module_& m);

}  // namespace rushlight::python
