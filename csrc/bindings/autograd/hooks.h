// Hooks of nodes in Python.
#pragma once
#include <pybind11/pybind11.h>

#include "autograd/node.h"

namespace rushlight::python {

// What they return removes the hook.
pybind11::object hook_before(Node& node, pybind11::object function);
pybind11::object hook_after(Node& node, pybind11::object function);
// Those of register_hook: an OrderedDict of them by number; None where there was none.
pybind11::object hooks_of_tensor(const Tensor& t);
pybind11::dict metadata_of(Node& node);  // for the user
// For the collector: what a node keeps that nothing but the visiting object holds.
int visit_node(const Node& node, visitproc visit, void* arg);
void bind_hooks(pybind11::module_& m);

}  // namespace rushlight::python
