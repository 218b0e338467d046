// The type of built-in functions that take attributes: Python's own with a dictionary. What calls
// them is Python's too, taken from a function of Python's own type.
#include "function.h"

#include <cstddef>

namespace rushlight::python {
namespace {

struct Function {
  PyCFunctionObject base;
  PyObject* attributes;  // made by Python at the first
};

void deallocate(PyObject* self) {
  Py_CLEAR(reinterpret_cast<Function*>(self)->attributes);
  PyCFunction_Type.tp_dealloc(self);
}
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<Function*>(self)->attributes);
  return PyCFunction_Type.tp_traverse(self, visit, arg);
}
int clear(PyObject* self) {
  Py_CLEAR(reinterpret_cast<Function*>(self)->attributes);
  return 0;
}

// What vars() reads.
PyGetSetDef getters[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyTypeObject* function_type() {
  static PyTypeObject type;  // all zeros
  if (type.tp_name) return &type;
  Py_SET_REFCNT(reinterpret_cast<PyObject*>(&type), 1);
  type.tp_name = "builtin_function_or_method";
  type.tp_base = &PyCFunction_Type;
  type.tp_basicsize = sizeof(Function);
  type.tp_dictoffset = offsetof(Function, attributes);
  type.tp_vectorcall_offset = offsetof(PyCFunctionObject, vectorcall);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL;
  type.tp_getset = getters;
  type.tp_hash = PyBaseObject_Type.tp_hash;
  type.tp_richcompare = PyBaseObject_Type.tp_richcompare;
  type.tp_dealloc = deallocate;
  type.tp_traverse = traverse;
  type.tp_clear = clear;
  if (PyType_Ready(&type) || PyDict_DelItemString(type.tp_dict, "__doc__")) return nullptr;
  PyType_Modified(&type);  // without a __doc__ of its own that would hide those of functions
  return &type;
}

}  // namespace

PyObject* function_with_attributes(PyMethodDef* definition, PyObject* module) {
  PyTypeObject* const type = function_type();
  PyObject* const plain = type ? PyCFunction_NewEx(definition, nullptr, module) : nullptr;
  Function* const made = plain ? PyObject_GC_New(Function, type) : nullptr;
  if (made) {
    made->base.m_ml = definition;
    made->base.m_self = made->base.m_weakreflist = made->attributes = nullptr;
    made->base.m_module = Py_XNewRef(module);
    made->base.vectorcall = reinterpret_cast<PyCFunctionObject*>(plain)->vectorcall;
    PyObject_GC_Track(made);
  }
  Py_XDECREF(plain);
  return reinterpret_cast<PyObject*>(made);
}

}  // namespace rushlight::python
