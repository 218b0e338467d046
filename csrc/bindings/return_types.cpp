// The types behind torch.return_types, made by CPython's struct sequences.
#include "bindings/return_types.h"

#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace rushlight::python {
namespace {

constexpr const char* kNames[kReturns] = {"max",    "min",    "median", "nanmedian",
                                          "mode",   "sort",   "topk",   "kthvalue",
                                          "cummax", "cummin", "aminmax"};
PyTypeObject* types[kReturns];

const char* field(int type, int i) {
  if (Returns(type) == Returns::aminmax) return i ? "max" : "min";
  return i ? "indices" : "values";
}

PyObject* represent(PyObject* self) {
  int type = 0;
  while (type + 1 < kReturns && types[type] != Py_TYPE(self)) ++type;
  return PyUnicode_FromFormat("torch.return_types.%s(\n%s=%R,\n%s=%R)", kNames[type],
                              field(type, 0), PyStructSequence_GetItem(self, 0), field(type, 1),
                              PyStructSequence_GetItem(self, 1));
}

}  // namespace

PyObject* to_python(Named named) {
  PyObject* result = PyStructSequence_New(types[int(named.type)]);
  if (!result) return nullptr;
  PyStructSequence_SetItem(result, 0, wrap(std::move(named.first)));
  PyStructSequence_SetItem(result, 1, wrap(std::move(named.second)));
  return result;
}

void bind_return_types(py::module_& m) {
  py::dict made;
  for (int t = 0; t < kReturns; ++t) {
    static std::string qualified[kReturns];
    static PyStructSequence_Field fields[kReturns][3];
    qualified[t] = std::string("rushlight.return_types.") + kNames[t];
    for (int i = 0; i < 2; ++i) fields[t][i] = {field(t, i), nullptr};
    static std::string docs[kReturns];
    docs[t] = std::string("What torch.") + kNames[t] + "() returns: " + field(t, 0) + " and " +
              field(t, 1) + ", by name or as a tuple.";
    PyStructSequence_Desc description{qualified[t].c_str(), docs[t].c_str(), fields[t], 2};
    types[t] = PyStructSequence_NewType(&description);
    if (!types[t]) throw py::error_already_set();
    types[t]->tp_repr = represent;
    types[t]->tp_str = represent;
    PyType_Modified(types[t]);
    made[kNames[t]] = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(types[t]));
  }
  m.attr("_return_types") = made;
}

}  // namespace rushlight::python
