// Results of operations on instances of a Python subclass are instances of it too, as torch has it.
// Note: only fresh objects change their class, so that a result which the program
// already holds keeps its own; and no check here is on the path of programs without subclasses.
#include <algorithm>
#include <pybind11/pybind11.h>

#include "bindings/table/overrides.h"
#include "python_tensor.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

// Parameters are no such class, nor is one that says so in torch's way.
bool is_kept(PyTypeObject* type) {
  if (type == tensor_type || PyType_IsSubtype(type, parameter_type)) return false;
  return override_of(type) == Override::inherited;
}

// The class among the arguments' that derives from the others.
void look_at(PyObject* o, PyTypeObject*& found, int depth) {
  if (as_tensor(o)) {
    PyTypeObject* type = Py_TYPE(o);
    if (is_kept(type) && (!found || PyType_IsSubtype(type, found))) found = type;
  } else if (depth && (PyTuple_Check(o) || PyList_Check(o))) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
      look_at(PySequence_Fast_GET_ITEM(o, i), found, depth - 1);
  }
}

void change(PyObject* o, PyTypeObject* type, int depth) {
  if (Py_IS_TYPE(o, tensor_type) && Py_REFCNT(o) == 1 &&
      type->tp_basicsize == tensor_type->tp_basicsize) {
    Py_INCREF(type);
    Py_SET_TYPE(o, type);
    Py_DECREF(tensor_type);
    if (!PyObject_GC_IsTracked(o)) PyObject_GC_Track(o);
  } else if (depth && (PyTuple_Check(o) || PyList_Check(o)) && Py_REFCNT(o) == 1) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
      change(PySequence_Fast_GET_ITEM(o, i), type, depth - 1);
  }
}

// A class whose objects are meta tensors that stand for data elsewhere (DTensor) has a `_refuse`,
// which raises: an operation that it does not override made no data, fresh or in place.
PyObject* refusal_of(PyObject* o, int depth) {
  static PyObject* name = PyUnicode_InternFromString("_refuse");
  if (as_tensor(o)) {
    PyTypeObject* type = Py_TYPE(o);
    if (type == tensor_type || type == parameter_type) return nullptr;
    PyObject *error, *value, *trace;  // one may be in flight
    PyErr_Fetch(&error, &value, &trace);
    PyObject* found = PyObject_GetAttr(reinterpret_cast<PyObject*>(type), name);
    PyErr_Restore(error, value, trace);
    return found;
  }
  if (depth && (PyTuple_Check(o) || PyList_Check(o)))
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
      if (PyObject* found = refusal_of(PySequence_Fast_GET_ITEM(o, i), depth - 1)) return found;
  return nullptr;
}

// Whether a result is a tensor, fresh or the one that was given.
bool is_computed(PyObject* o, int depth) {
  if (as_tensor(o)) return true;
  if (depth && (PyTuple_Check(o) || PyList_Check(o)))
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
      if (is_computed(PySequence_Fast_GET_ITEM(o, i), depth - 1)) return true;
  return false;
}

}  // namespace

PyObject* answer_of_class(const char* name, PyObject* const* args, Py_ssize_t n,
                          PyObject* keywords) {
  if (!PyErr_ExceptionMatches(PyExc_RuntimeError)) return nullptr;  // of wrong arguments
  PyObject *error, *value, *trace;  // the lookups below would drop the one in flight
  PyErr_Fetch(&error, &value, &trace);
  const Py_ssize_t all = n + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
  for (Py_ssize_t i = 0; i < all; ++i) {
    const auto refuse = py::reinterpret_steal<py::object>(refusal_of(args[i], 0));
    if (!refuse) continue;
    Py_XDECREF(error);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    const auto method = py::getattr(py::type::of(args[i]), name, py::none());
    const auto plain = py::getattr(reinterpret_cast<PyObject*>(tensor_type), name, py::none());
    if (method.is(plain)) return PyObject_CallNoArgs(refuse.ptr());
    return PyObject_Vectorcall(method.ptr(), args, std::size_t(n), keywords);
  }
  PyErr_Restore(error, value, trace);
  return nullptr;
}

PyObject* in_class_of(PyObject* result, PyObject* self, PyObject* const* args, Py_ssize_t n) {
  if (!result) return nullptr;
  PyTypeObject* type = nullptr;
  if (self) look_at(self, type, 0);
  PyObject* refusal = self ? refusal_of(self, 0) : nullptr;
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (!args[i]) continue;
    look_at(args[i], type, 2);
    if (!refusal) refusal = refusal_of(args[i], 2);
  }
  if (refusal) {
    const py::object refuse = py::reinterpret_steal<py::object>(refusal);
    if (!is_computed(result, 2)) return result;
    Py_DECREF(result);
    Py_XDECREF(PyObject_CallNoArgs(refusal));
    return nullptr;
  }
  if (type && !overrides_disabled()) change(result, type, 2);
  return result;
}

}  // namespace rushlight::python
