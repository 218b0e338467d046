// What Python has of __torch_function__: Tensor's own, switches, the stack of modes.
#include <algorithm>
#include <pybind11/pybind11.h>

#include "bindings/module.h"
#include "bindings/tensor/python_tensor.h"
#include "overrides_state.h"
#include "signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

struct Recursion {  // a list may hold itself
  Recursion() {
    if (Py_EnterRecursiveCall(" in __torch_function__")) throw py::error_already_set();
  }
  ~Recursion() { Py_LeaveRecursiveCall(); }
  Recursion(const Recursion&) = delete;
};

// Tensor's own: the operation without the protocol, its results of the class.
py::object as_class(py::object o, PyTypeObject* cls) {
  if (as_tensor(o.ptr())) {
    if (PyType_IsSubtype(Py_TYPE(o.ptr()), cls)) return o;
    static const auto& as_subclass =
        *new py::object(py::module_::import("rushlight._C").attr("_as_subclass"));
    return as_subclass(o, py::handle(reinterpret_cast<PyObject*>(cls)));
  }
  if (!PyTuple_Check(o.ptr()) && !PyList_Check(o.ptr())) return o;
  const py::tuple items(o);
  py::list made;
  const Recursion inside;
  for (const py::handle item : items)
    made.append(as_class(py::reinterpret_borrow<py::object>(item), cls));
  const py::object kind = py::type::of(o);
  return kind.is(py::handle(reinterpret_cast<PyObject*>(&PyList_Type))) ? py::object(made)
                                                                        : kind(made);
}

// While it exists, calls are not dispatched to __torch_function__ in this thread.
class Off {
 public:
  explicit Off(Disabled how) : before_(override_state().disabled) {
    override_state().disabled = std::max(before_, how);
  }
  ~Off() { override_state().disabled = before_; }
  Off(const Off&) = delete;

 private:
  Disabled before_;
};

struct Handled {  // the arguments of a __torch_function__
  py::object function, types, args, keywords;
};
Handled read_handled(PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"func", "types", "args", "kwargs", nullptr};
  PyObject *function, *types, *positional = nullptr, *named = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:__torch_function__",
                                   const_cast<char**>(names), &function, &types, &positional,
                                   &named))
    throw py::error_already_set();
  Handled h;
  h.function = py::reinterpret_borrow<py::object>(function);
  h.types = py::reinterpret_borrow<py::object>(types);
  h.args = positional ? py::object(py::tuple(py::reinterpret_borrow<py::object>(positional)))
                      : py::object(py::tuple());
  if (named && named != Py_None) {
    if (!PyDict_Check(named)) fail<TypeError>("__torch_function__: kwargs must be a dict");
    h.keywords = py::reinterpret_borrow<py::object>(named);
  }
  return h;
}
py::object compute(const Handled& h) {
  PyObject* result = PyObject_Call(h.function.ptr(), h.args.ptr(), h.keywords.ptr());
  if (!result) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(result);
}

// Getters whose result is another tensor of the program's, which keeps its class.
bool is_kept_as_it_is(PyObject* function) {
  if (Py_TYPE(function) != &_PyMethodWrapper_Type) return false;
  const py::object owner = py::getattr(function, "__self__", py::none());
  const py::object name = py::getattr(owner, "__name__", py::none());
  if (!py::isinstance<py::str>(name)) return false;
  const auto text = name.cast<std::string>();
  return text == "_base" || text == "grad" || text == "_grad";
}

PyObject* of_tensor(PyObject* cls, PyObject* args, PyObject* kwargs) {
  try {
    const Handled h = read_handled(args, kwargs);
    auto* type = reinterpret_cast<PyTypeObject*>(cls);
    for (const py::handle each : h.types) {
      const int is = PyObject_IsSubclass(cls, each.ptr());
      if (is < 0) throw py::error_already_set();
      if (!is) Py_RETURN_NOTIMPLEMENTED;
    }
    const Off off(Disabled::subclasses);
    py::object result = compute(h);
    if (type == tensor_type || is_kept_as_it_is(h.function.ptr())) return result.release().ptr();
    return as_class(std::move(result), type).release().ptr();
  } catch (...) {
    return raise_current();
  }
}
PyObject* of_disabled(PyObject*, PyObject* args, PyObject* kwargs) {
  try {
    const Handled h = read_handled(args, kwargs);
    const Off off(Disabled::subclasses);
    return compute(h).release().ptr();
  } catch (...) {
    return raise_current();
  }
}

// `with torch._C.DisableTorchFunctionSubclass():` and its like, entered any number of times.
template <Disabled How>
struct Switch {
  std::vector<Disabled> before;
  void enter() {
    Disabled& now = override_state().disabled;
    before.push_back(now);
    now = How == Disabled::no ? How : std::max(now, How);
  }
  void exit(const py::args&) {
    if (before.empty()) fail<RuntimeError>("__exit__() before __enter__()");
    override_state().disabled = before.back();
    before.pop_back();
  }
};
template <Disabled How>
void bind_switch(py::module_& m, const char* name, const char* doc) {
  using S = Switch<How>;
  py::class_<S>(m, name, doc)
      .def(py::init<>())
      .def("__enter__", &S::enter)
      .def("__exit__", &S::exit);
}

// has_torch_function(): Tensor's own counts too.
bool skips() { return std::exchange(override_state().skip_next, false); }
PyObject* has_one(PyObject*, PyObject* o) {
  return PyBool_FromLong((has_mode() || has_protocol(o)) && !skips());
}
PyObject* has_many(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return PyBool_FromLong((has_mode() || std::any_of(args, args + n, has_protocol)) && !skips());
}
PyObject* has_in(PyObject*, PyObject* args) {
  PyObject* items = PySequence_Fast(args, "expected a sequence");
  if (!items) return nullptr;
  PyObject* has = has_many(nullptr, PySequence_Fast_ITEMS(items), PySequence_Fast_GET_SIZE(items));
  Py_DECREF(items);
  return has;
}

PyCFunction with_keywords(PyCFunctionWithKeywords f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}

}  // namespace

void bind_overrides(py::module_& m) {
  static PyMethodDef own = {"__torch_function__", with_keywords(of_tensor),
                            METH_VARARGS | METH_KEYWORDS | METH_CLASS,
                            "Calls func without the protocol; its results are of this class."};
  static PyMethodDef disabled = {"_disabled_torch_function_impl", with_keywords(of_disabled),
                                 METH_VARARGS | METH_KEYWORDS,
                                 "The __torch_function__ of classes whose results are tensors."};
  tensors_override = PyDescr_NewClassMethod(tensor_type, &own);
  disabled_override = PyCFunction_New(&disabled, nullptr);
  if (!tensors_override || !disabled_override) throw py::error_already_set();
  py::setattr(reinterpret_cast<PyObject*>(tensor_type), override_name(), tensors_override);
  m.attr("_disabled_torch_function_impl") = py::handle(disabled_override);

  bind_switch<Disabled::subclasses>(m, "DisableTorchFunctionSubclass",
                                    R"(Inside, no class takes a call over; modes do.

>>> with torch._C.DisableTorchFunctionSubclass():
...     torch.overrides.has_torch_function([torch.zeros(2)])
False)");
  bind_switch<Disabled::all>(m, "DisableTorchFunction",
                             R"(Inside, neither a class nor a mode takes a call over.

>>> with torch._C.DisableTorchFunction():
...     torch.overrides.has_torch_function([torch.zeros(2)])
False)");
  bind_switch<Disabled::no>(m, "_EnableTorchFunction",
                            "Inside, classes and modes take calls over.");
  m.def("_is_torch_function_enabled", [] { return override_state().disabled == Disabled::no; });
  m.def("_is_torch_function_all_disabled",
        [] { return override_state().disabled == Disabled::all; });
  m.def("_is_torch_function_mode_enabled", has_mode);
  m.def("_set_skip_next_torch_function", [](bool skip) { override_state().skip_next = skip; });
  m.def("_push_on_torch_function_stack", [](py::object mode) {
    override_state().list().push_back(mode.release().ptr());
    count_modes(1);
  });
  m.def("_pop_torch_function_stack", [] {
    auto& modes = override_state().list();
    if (modes.empty()) fail<RuntimeError>("there is no torch function mode to pop");
    auto mode = py::reinterpret_steal<py::object>(modes.back());
    modes.pop_back();
    count_modes(-1);
    return mode;
  });
  m.def("_len_torch_function_stack", [] { return override_state().list().size(); });
  m.def("_get_function_stack_at", [](std::size_t i) {
    const auto& modes = override_state().list();
    if (i >= modes.size()) fail<IndexError>("there is no such torch function mode");
    return py::reinterpret_borrow<py::object>(modes[i]);
  });
  static PyMethodDef tests[] = {
      {"_has_torch_function", has_in, METH_O, nullptr},
      {"_has_torch_function_unary", has_one, METH_O, nullptr},
      {"_has_torch_function_variadic",
       reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(has_many)), METH_FASTCALL,
       nullptr}};
  for (PyMethodDef& test : tests)
    m.attr(test.ml_name) = py::reinterpret_steal<py::object>(PyCFunction_New(&test, nullptr));
}

}  // namespace rushlight::python
