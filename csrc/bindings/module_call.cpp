// The call of an nn.Module: the base type from which the Python class inherits it. A module without
// hooks is one test and `forward`; what happens otherwise is Python, given by _module_calls().
#include <pybind11/pybind11.h>

#include "bindings/module.h"
#include "bindings/stack.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

PyObject *hooked_name, *forward_name;
PyObject* everywhere;  // the list that is not empty while there are hooks for all modules
PyObject* call_with_hooks;  // (module, args, kwargs)
PyObject* add_path;  // (module, error): notes where in the model the error was raised

// 1, 0, or -1 with an error.
int has_hooks(PyObject* self) {
  if (PyList_GET_SIZE(everywhere)) return 1;
  PyObject* hooked = PyObject_GetAttr(self, hooked_name);
  if (!hooked) return -1;
  const int answer = PyObject_IsTrue(hooked);
  Py_DECREF(hooked);
  return answer;
}

PyObject* with_hooks(PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject* keywords = kwargs ? Py_NewRef(kwargs) : PyDict_New();
  if (!keywords) return nullptr;
  PyObject* result = PyObject_CallFunctionObjArgs(call_with_hooks, self, args, keywords, nullptr);
  Py_DECREF(keywords);
  return result;
}

PyObject* forward(PyObject* self, PyObject* args, PyObject* kwargs) {
  constexpr Py_ssize_t kFew = 4;
  const Py_ssize_t n = PyTuple_GET_SIZE(args);
  if (n <= kFew && (!kwargs || PyDict_GET_SIZE(kwargs) == 0)) {
    PyObject* stack[2 + kFew] = {nullptr, self};  // the first slot is the callee's to use
    for (Py_ssize_t i = 0; i < n; ++i) stack[2 + i] = PyTuple_GET_ITEM(args, i);
    return PyObject_VectorcallMethod(forward_name, stack + 1,
                                     std::size_t(n + 1) | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
  }
  PyObject* method = PyObject_GetAttr(self, forward_name);
  if (!method) return nullptr;
  PyObject* result = PyObject_Call(method, args, kwargs);
  Py_DECREF(method);
  return result;
}

// The error in flight gets its note, as `except Exception as error: add_path(self, error)` would.
void note_error(PyObject* self) {
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace) PyException_SetTraceback(value, trace);
  PyObject* done = PyObject_CallFunctionObjArgs(add_path, self, value, nullptr);
  if (done) return Py_DECREF(done), PyErr_Restore(type, value, trace);
  Py_XDECREF(type);  // Ctrl-C meanwhile: it goes on instead
  Py_XDECREF(value);
  Py_XDECREF(trace);
}

PyObject* call(PyObject* self, PyObject* args, PyObject* kwargs) {
  if (!everywhere) {
    PyErr_SetString(PyExc_RuntimeError, "rushlight.nn is not imported yet");
    return nullptr;
  }
  if (!has_stack()) return nullptr;
  const int hooked = has_hooks(self);
  PyObject* result = hooked < 0 ? nullptr
                     : hooked   ? with_hooks(self, args, kwargs)
                                : forward(self, args, kwargs);
  if (!result) note_error(self);
  return result;
}

}  // namespace

void bind_module_call(py::module_& m) {
  using Slot = void*;
  static PyType_Slot slots[] = {
      {Py_tp_call, Slot(call)},
      {Py_tp_doc, Slot(const_cast<char*>("Calls `forward`, and the hooks around it."))},
      {0, nullptr}};
  static PyType_Spec spec = {"rushlight._C._ModuleCall", 0, 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) throw py::error_already_set();
  m.add_object("_ModuleCall", type);
  hooked_name = PyUnicode_InternFromString("_hooked");
  forward_name = PyUnicode_InternFromString("forward");
  // Attributes of the type's instances are looked up as an object's, without its __getattr__.
  m.def("_without_getattr", [](const py::type& t) {
    auto* const type = reinterpret_cast<PyTypeObject*>(t.ptr());
    // Only a class statement makes types that look for a __getattr__ of Python's.
    const py::object own = py::getattr(t, "__getattr__", py::none());
    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) || !PyFunction_Check(own.ptr()) ||
        PyType_IsSubtype(type, &PyType_Type))
      fail<TypeError>("_without_getattr(): a class with a __getattr__ in Python is needed, not ",
                      type->tp_name);
    type->tp_getattro = PyObject_GenericGetAttr;
    PyType_Modified(type);
  });
  m.def("_module_calls",
        [](const py::list& active, const py::function& hooks, const py::function& path) {
          call_with_hooks = hooks.inc_ref().ptr();
          add_path = path.inc_ref().ptr();
          everywhere = active.inc_ref().ptr();
        });
}

}  // namespace rushlight::python
