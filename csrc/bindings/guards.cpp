// What pybind11 and CPython let through to a null pointer or to memory that was never written:
// objects whose constructor has not run, None as self, a method bound without its class.
#include <cstring>
#include <pybind11/pybind11.h>
#include <unordered_set>

#include "bindings/module.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using py::detail::get_function;

PyTypeObject* base_of_all() {  // of pybind11's classes
  return reinterpret_cast<PyTypeObject*>(py::detail::get_internals().instance_base);
}

PyObject* refuse_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyErr_Format(PyExc_TypeError, "cannot create '%s' instances", type->tp_name);
  return nullptr;
}

// For the value of an object that has none, pybind11 would take memory and write nothing to it.
void* refuse_value(std::size_t) {
  throw py::type_error(
      "this object was never initialised: its class's __init__ has not been called");
}

// A class without a constructor has no __new__, and the others' construct: what copies an object
// calls it alone.
void guard_new(PyTypeObject* type) {
  static auto& classes = *new std::unordered_set<PyTypeObject*>;  // no subclasses in Python
  static const newfunc allocate = base_of_all()->tp_new;
  if (type->tp_init == base_of_all()->tp_init) {
    type->tp_new = refuse_new;
  } else {
    classes.insert(type);
    type->tp_new = [](PyTypeObject* type, PyObject* args, PyObject* keywords) -> PyObject* {
      PyObject* made = allocate(type, args, keywords);
      if (!made || !classes.contains(type) || type->tp_init(made, args, keywords) == 0) return made;
      Py_DECREF(made);
      return nullptr;
    };
  }
  PyType_Modified(type);
}

// None is no self: a method that is a pointer to a member function would be called on null.
void guard_self(py::handle member) {
  const py::handle f = get_function(member);
  if (!f || !PyCFunction_Check(f.ptr()) || !PyCFunction_GET_SELF(f.ptr())) return;
  auto* record = py::detail::function_record_ptr_from_PyObject(PyCFunction_GET_SELF(f.ptr()));
  for (; record; record = record->next)
    if (record->is_method && record->args.empty())
      record->args.emplace_back(strdup("self"), nullptr, py::handle(), true, false);
}

void guard_class(PyTypeObject* type) {
  guard_new(type);
  for (auto* info : py::detail::all_type_info(type)) info->operator_new = refuse_value;
  for (const auto& [name, member] : py::reinterpret_borrow<py::dict>(type->tp_dict)) {
    guard_self(member);
    if (Py_TYPE(member.ptr()) == &PyProperty_Type)
      for (const char* part : {"fget", "fset"}) guard_self(member.attr(part));
  }
}

void guard_module(const py::handle& m) {
  for (const auto& [name, value] : m.attr("__dict__").cast<py::dict>())
    if (Py_TYPE(value.ptr()) == py::detail::get_internals().default_metaclass)
      guard_class(reinterpret_cast<PyTypeObject*>(value.ptr()));
    else if (PyModule_Check(value.ptr()) && !value.is(m))
      guard_module(value);
}

// The common base class has nothing to allocate, and pybind11 ends the process where it is called.
void guard_base() {
  static const newfunc allocate = base_of_all()->tp_new;
  base_of_all()->tp_new = [](PyTypeObject* type, PyObject* args, PyObject* keywords) {
    return py::detail::all_type_info(type).empty() ? refuse_new(type, args, keywords)
                                                   : allocate(type, args, keywords);
  };
}

// f.__get__(x) of a method that is given its class: CPython 3.11 reads the class that is not there.
void guard_binding() {
  static descrgetfunc bind = nullptr;
  const py::object get =
      py::handle(reinterpret_cast<PyObject*>(&PyMethodDescr_Type)).attr("__get__");
  if (Py_TYPE(get.ptr()) != &PyWrapperDescr_Type || bind) return;
  auto* const wrapper = reinterpret_cast<PyWrapperDescrObject*>(get.ptr());
  bind = reinterpret_cast<descrgetfunc>(wrapper->d_wrapped);
  wrapper->d_wrapped = reinterpret_cast<void*>(+[](PyObject* f, PyObject* self, PyObject* type) {
    return bind(f, self, type || !self ? type : reinterpret_cast<PyObject*>(Py_TYPE(self)));
  });
}

}  // namespace

void guard_classes(const py::module_& m) {
  guard_module(m);
  guard_base();
  guard_binding();
}

}  // namespace rushlight::python
