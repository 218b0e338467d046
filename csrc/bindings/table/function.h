// Built-in functions that take attributes, as torch's functions of nn.functional, which are
// written in Python: F.relu.gain = 2.
#pragma once
#include <Python.h>

namespace rushlight::python {

// As PyCFunction_NewEx(definition, nullptr, module). It lives as long as what refers to it.
PyObject* function_with_attributes(PyMethodDef* definition, PyObject* module);

// Python computes the hash of a built-in function from its entry point. A function whose entry
// point is about to change keeps its hash, so that dictionaries still find it; false with an error.
bool keep_hash(PyObject* function);

}  // namespace rushlight::python
