// torch.return_types: tuples of tensors whose parts have names, printed as torch prints them.
// CPython makes the types (struct sequences), so pickle and pytrees treat them as torch's.
#pragma once
#include <string>
#include <string_view>

#include "bindings/tensor/python_tensor.h"

namespace rushlight::python {

// The type of one operation's results; `fields` are names with commas, up to a ')'.
PyTypeObject* return_type(const std::string& name, std::string_view fields);

void bind_return_types(pybind11::module_& m);

}  // namespace rushlight::python
