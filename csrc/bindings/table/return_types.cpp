// The types behind torch.return_types, made by CPython's struct sequences.
#include "return_types.h"

#include <deque>
#include <pybind11/pybind11.h>

#include "signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

// What CPython keeps pointers to: as long as the process lives.
struct Description {
  std::string qualified, doc, name;
  std::vector<std::string> names;
  std::vector<PyStructSequence_Field> fields;
};
std::deque<Description>& descriptions() {
  static auto& all = *new std::deque<Description>;
  return all;
}
py::dict& types() {
  static auto& all = *new py::dict;
  return all;
}

PyObject* represent(PyObject* self) {
  try {
    const py::handle type(reinterpret_cast<PyObject*>(Py_TYPE(self)));
    std::string text = "torch.return_types." + type.attr("__name__").cast<std::string>() + "(";
    const char* separator = "\n";
    std::size_t i = 0;
    for (const py::handle field : type.attr("__match_args__")) {
      text += separator + field.cast<std::string>() + "=" +
              py::repr(PyTuple_GET_ITEM(self, i++)).cast<std::string>();
      separator = ",\n";
    }
    return to_python(text + ")");
  } catch (...) {
    return raise_current();
  }
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> names;
  std::string name;
  for (const char c : text) {
    if (c == ')') break;
    if (c == ',')
      names.push_back(std::exchange(name, {}));
    else if (c != ' ')
      name += c;
  }
  names.push_back(name);
  return names;
}

}  // namespace

PyTypeObject* return_type(const std::string& name, std::string_view fields) {
  if (types().contains(name))
    return reinterpret_cast<PyTypeObject*>(py::object(types()[name.c_str()]).ptr());
  Description& d = descriptions().emplace_back();
  d.name = name;
  d.qualified = "rushlight.return_types." + name;
  d.names = split(fields);
  d.doc = "What torch." + name + "() returns, by name or as a tuple.";
  for (const std::string& field : d.names) d.fields.push_back({field.c_str(), nullptr});
  d.fields.push_back({nullptr, nullptr});
  PyStructSequence_Desc description{d.qualified.c_str(), d.doc.c_str(), d.fields.data(),
                                    int(d.names.size())};
  PyTypeObject* type = PyStructSequence_NewType(&description);
  if (!type) throw py::error_already_set();
  type->tp_repr = type->tp_str = represent;
  PyType_Modified(type);
  types()[name.c_str()] = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(type));
  return type;
}

PyObject* named_result(PyTypeObject* type, PyObject* tuple) {
  if (!tuple || !PyTuple_Check(tuple) || Py_IS_TYPE(tuple, type)) return tuple;
  PyObject* result = PyStructSequence_New(type);
  if (!result) return Py_DECREF(tuple), nullptr;
  if (PyTuple_GET_SIZE(result) != PyTuple_GET_SIZE(tuple)) {
    PyErr_Format(PyExc_TypeError, "a result of %zd parts cannot be a %s", PyTuple_GET_SIZE(tuple),
                 type->tp_name);
    Py_DECREF(tuple);
    return Py_DECREF(result), nullptr;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i)
    PyStructSequence_SetItem(result, i, Py_NewRef(PyTuple_GET_ITEM(tuple, i)));
  Py_DECREF(tuple);
  return result;
}

void bind_return_types(py::module_& m) {
  m.attr("_return_types") = types();
  m.def("_return_type", [](const std::string& name, const std::string& fields) {
    return py::reinterpret_borrow<py::object>(
        reinterpret_cast<PyObject*>(return_type(name, fields)));
  });
}

}  // namespace rushlight::python
