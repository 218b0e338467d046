// Names that a module finds when they are asked for: submodules, what is made on its first use,
// what an error says of a name that is not here. A function __getattr__ in the module does that
// too, but CPython then gives up the quick way to all of its names (specialize_module_load_attr in
// Python/specialize.c): torch.relu would take 25 ns to be found. So what follows a failed search is
// asked for behind it, where a module that has told its function is found.
#include <pybind11/pybind11.h>
#include <vector>

#include "bindings/module.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

struct Finder {
  PyObject *module, *function;  // kept for as long as the process lives
};
std::vector<Finder>& finders() {
  static auto* const all = new std::vector<Finder>;
  return *all;
}
Finder* finder_of(PyObject* module) {
  for (Finder& f : finders())
    if (f.module == module) return &f;
  return nullptr;
}

getattrofunc search;  // CPython's own

PyObject* search_and_find(PyObject* module, PyObject* name) {
  PyObject* const found = search(module, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  const Finder* const finder = finder_of(module);
  if (!finder) return nullptr;
  PyErr_Clear();
  return PyObject_CallOneArg(finder->function, name);
}

void find_names_by(const py::object& module, const py::object& function) {
  if (!PyModule_CheckExact(module.ptr())) throw py::type_error("expected a module");
  if (!search) {
    search = PyModule_Type.tp_getattro;
    PyModule_Type.tp_getattro = search_and_find;
  }
  if (Finder* const finder = finder_of(module.ptr()))
    Py_XSETREF(finder->function, function.inc_ref().ptr());
  else
    finders().push_back({module.inc_ref().ptr(), function.inc_ref().ptr()});
}

py::object finder_of_names(const py::object& module) {
  const Finder* const finder = finder_of(module.ptr());
  return finder ? py::reinterpret_borrow<py::object>(finder->function) : py::none();
}

}  // namespace

void bind_missing_names(py::module_& m) {
  m.def("_find_names_by", &find_names_by,
        "Names that `module` does not have are what function(name) returns.");
  m.def("_finder_of_names", &finder_of_names, "That function of a module, or None.");
}

}  // namespace rushlight::python
