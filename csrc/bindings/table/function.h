// Built-in functions that take attributes, as torch's functions of nn.functional, which are
// written in Python: F.relu.gain = 2.
#pragma once
#include <Python.h>

namespace rushlight::python {

// As PyCFunction_NewEx(definition, nullptr, module). It lives as long as what refers to it.
PyObject* function_with_attributes(PyMethodDef* definition, PyObject* module);

}  // namespace rushlight::python
