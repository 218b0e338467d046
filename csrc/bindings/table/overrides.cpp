// __torch_function__: which arguments take a call over, in which order, and the modes.
#include <algorithm>

#include "bindings/module.h"
#include "bindings/profile.h"
#include "bindings/stack.h"
#include "bindings/tensor/python_tensor.h"
#include "overrides_state.h"
#include "signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

thread_local OverrideState state;
std::size_t pushed = 0;  // modes of all threads
bool started = false;

PyObject* interned(const char* text) {
  PyObject* made = PyUnicode_InternFromString(text);
  if (!made) throw py::error_already_set();
  return made;
}
// Types of which no instance has the protocol, by address alone.
bool is_plain(PyTypeObject* type) {
  return type == tensor_type || type == parameter_type || type == &PyLong_Type ||
         type == &PyFloat_Type || type == Py_TYPE(Py_None) || type == &PyBool_Type ||
         type == &PyUnicode_Type || type == &PySlice_Type;
}

bool takes_over(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  return !is_plain(type) && override_of(type) == Override::own;
}

bool has_taker(PyObject* o) {
  if (PyTuple_Check(o) || PyList_Check(o)) {
    if (!is_plain(Py_TYPE(o)) && takes_over(o)) return true;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
      if (takes_over(PySequence_Fast_GET_ITEM(o, i))) return true;
    return false;
  }
  return takes_over(o);
}

// The arguments whose classes have the protocol, one of each class: subclasses before their bases,
// else from left to right.
class Takers {
 public:
  void look_at(PyObject* o) {
    add(o);
    if (PyTuple_Check(o) || PyList_Check(o))
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
        add(PySequence_Fast_GET_ITEM(o, i));
  }
  const std::vector<py::object>& list() const { return list_; }
  void add(PyObject* o) {
    PyTypeObject* type = Py_TYPE(o);
    if (is_plain(type) || override_of(type) == Override::none) return;
    for (const py::object& other : list_)
      if (Py_TYPE(other.ptr()) == type) return;
    const auto before = std::find_if(list_.begin(), list_.end(), [&](const py::object& other) {
      return PyType_IsSubtype(type, Py_TYPE(other.ptr()));
    });
    list_.insert(before, py::reinterpret_borrow<py::object>(o));
  }
  py::tuple types() const {
    py::tuple types(list_.size());
    for (std::size_t i = 0; i < list_.size(); ++i) types[i] = py::type::of(list_[i]);
    return types;
  }

 private:
  std::vector<py::object> list_;
};

// The newest mode, which does not see the calls that it makes itself.
class CurrentMode {
 public:
  CurrentMode() : mode_(py::reinterpret_steal<py::object>(state.list().back())) {
    state.list().pop_back();
  }
  ~CurrentMode() { state.list().push_back(mode_.release().ptr()); }
  CurrentMode(const CurrentMode&) = delete;
  const py::object& operator*() const { return mode_; }

 private:
  py::object mode_;
};

std::string name_of(PyObject* function) {
  const auto text = [&](const py::handle& o, const char* name) {
    const py::object found = py::getattr(o, name, py::none());
    return py::isinstance<py::str>(found) ? found.cast<std::string>() : std::string("?");
  };
  const std::string name = text(function, "__name__");
  if (Py_TYPE(function) == &_PyMethodWrapper_Type)
    return "torch.Tensor." + text(py::getattr(function, "__self__", py::none()), "__name__") + "." +
           name;
  std::string module = text(function, "__module__");
  const py::handle type(reinterpret_cast<PyObject*>(tensor_type));
  if (py::getattr(type, name.c_str(), py::none()).is(py::handle(function))) module = "torch.Tensor";
  if (module.starts_with("rushlight")) module.replace(0, 9, "torch");
  return module + "." + name;
}

[[noreturn]] void refuse_all(PyObject* function, const py::object& mode, const Takers& takers) {
  std::string text = "Multiple dispatch failed for '" + name_of(function) +
                     "'; all __torch_function__ handlers returned NotImplemented:\n";
  if (mode) text += "\n  - mode object " + py::repr(mode).cast<std::string>();
  for (const py::object& taker : takers.list())
    text += "\n  - tensor subclass " + py::repr(py::type::of(taker)).cast<std::string>();
  throw TypeError(text);
}

py::object called(const py::object& handler, PyObject* function, const py::tuple& types,
                  const py::tuple& args, const py::object& keywords) {
  check_stack();
  PyObject* const all[] = {function, types.ptr(), args.ptr(), keywords.ptr()};
  PyObject* result = PyObject_Vectorcall(handler.ptr(), all, keywords ? 4 : 3, nullptr);
  if (!result) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(result);
}

bool is_not_implemented(const py::object& o) { return o.is(py::handle(Py_NotImplemented)); }

// torch's warning for a handler that is no classmethod.
void check_handler(const py::object& handler, const py::object& taker) {
  if (PyMethod_Check(handler.ptr()) && PyMethod_GET_SELF(handler.ptr()) == taker.ptr() &&
      PyErr_WarnEx(PyExc_UserWarning,
                   "Defining your `__torch_function__` as a plain method is deprecated and will be "
                   "an error in future, please define it as a classmethod.",
                   1) != 0)
    throw py::error_already_set();
}

py::object dispatch(PyObject* function, const Takers& takers, const py::tuple& args,
                    const py::object& keywords) {
  const py::tuple types = takers.types();
  py::object mode;
  if (has_mode()) {
    const CurrentMode current;
    mode = *current;
    const py::object handler = mode.attr(py::handle(override_name()));
    py::object result = called(handler, function, types, args, keywords);
    if (!is_not_implemented(result)) return result;
  }
  if (state.disabled == Disabled::no)
    for (const py::object& taker : takers.list()) {
      const py::object handler = taker.attr(py::handle(override_name()));
      check_handler(handler, taker);
      py::object result = called(handler, function, types, args, keywords);
      if (!is_not_implemented(result)) return result;
    }
  refuse_all(function, mode, takers);
}

struct Known {  // by address and version of a class: a changed one has another version
  PyTypeObject* type;
  unsigned version;
  Override override;
};
Known known[256];

Override found(PyTypeObject* type) {
  PyObject* own = _PyType_Lookup(type, override_name());  // borrowed; runs no code of the class
  if (!own || own == disabled_override) return Override::none;
  return own == tensors_override ? Override::inherited : Override::own;
}

}  // namespace

OverrideState& override_state() { return state; }
bool has_mode() {
  return pushed && state.disabled != Disabled::all && state.modes && !state.modes->empty();
}
PyObject* override_name() {
  static PyObject* name = interned("__torch_function__");
  return name;
}
bool has_protocol(PyObject* o) {
  return state.disabled == Disabled::no && !is_plain(Py_TYPE(o)) &&
         override_of(Py_TYPE(o)) != Override::none;
}

static void update() {
  overriding = started || pushed;
  watch(Watcher::overrides, overriding);
}
void start_overriding() {
  if (started) return;
  started = true;
  update();
}

void count_modes(int more) {
  pushed = std::size_t(std::ptrdiff_t(pushed) + more);
  update();
}

Override override_of(PyTypeObject* type) {
  Known& slot = known[(reinterpret_cast<std::uintptr_t>(type) >> 4) % std::size(known)];
  const unsigned version = type->tp_version_tag;
  if (slot.type == type && version && slot.version == version) return slot.override;
  PyObject *error, *value, *trace;  // a lookup with one in flight would drop it
  PyErr_Fetch(&error, &value, &trace);
  const Override now = found(type);  // which gives it a version where it had none
  PyErr_Restore(error, value, trace);
  slot = {type, type->tp_version_tag, now};
  return now;
}

bool overrides_disabled() { return state.disabled != Disabled::no; }

bool is_taken_over(PyObject* self, PyObject* const* args, Py_ssize_t n, bool only_modes) {
  if (pushed && has_mode()) return !std::exchange(state.skip_next, false);
  if (only_modes) return false;
  bool any = self && takes_over(self);
  for (Py_ssize_t i = 0; i < n && !any; ++i)
    any = !is_plain(Py_TYPE(args[i])) && has_taker(args[i]);
  return any && state.disabled == Disabled::no && !std::exchange(state.skip_next, false);
}

PyObject* hand_over(PyObject* function, PyObject* self, PyObject* const* args, Py_ssize_t n,
                    PyObject* keywords, bool only_modes) {
  if (Py_EnterRecursiveCall(" in __torch_function__")) return nullptr;
  PyObject* result = nullptr;
  try {
    const Py_ssize_t own = self != nullptr;
    py::tuple all(std::size_t(own + n));
    if (self) all[0] = py::handle(self);
    for (Py_ssize_t i = 0; i < n; ++i) all[std::size_t(own + i)] = py::handle(args[i]);
    py::object named;
    const Py_ssize_t count = keywords ? PyTuple_GET_SIZE(keywords) : 0;
    if (count) named = py::dict();
    for (Py_ssize_t k = 0; k < count; ++k)
      if (PyDict_SetItem(named.ptr(), PyTuple_GET_ITEM(keywords, k), args[n + k]) < 0)
        throw py::error_already_set();
    Takers takers;
    if (!only_modes) {
      if (self) takers.look_at(self);
      for (Py_ssize_t i = 0; i < n + count; ++i) takers.look_at(args[i]);
    }
    const auto held = py::reinterpret_borrow<py::object>(function);
    result = dispatch(function, takers, all, named).release().ptr();
  } catch (...) {
    raise_current();
  }
  Py_LeaveRecursiveCall();
  return result;
}

PyObject* hand_over_method(const char* name, PyObject* const* args, Py_ssize_t n) {
  const auto function = py::reinterpret_steal<py::object>(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), name));
  return function ? hand_over(function.ptr(), nullptr, args, n, nullptr) : nullptr;
}

PyObject* hand_over_operator(const char* name, const char* reflected, PyObject* const* args,
                             Py_ssize_t n) {
  PyObject* result;
  if (n > 1 && reflected && !as_tensor(args[0])) {
    PyObject* const swapped[] = {args[1], args[0]};
    result = hand_over_method(reflected, swapped, 2);
  } else {
    result = hand_over_method(name, args, n);
  }
  if (result || n < 2 || !PyErr_ExceptionMatches(PyExc_TypeError)) return result;
  PyErr_Clear();
  Py_RETURN_NOTIMPLEMENTED;
}

PyObject* refused(_PyCFunctionFastWithKeywords entry, PyObject* self, PyObject* const* args,
                  Py_ssize_t n, PyObject* keywords) {
  const Py_ssize_t all = n + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
  if (overriding || !is_taken_over(self, args, all)) return nullptr;
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) return nullptr;
  PyObject* function = public_object(entry);
  if (!function) return nullptr;
  PyErr_Clear();
  start_overriding();
  return hand_over(function, self, args, n, keywords);
}

}  // namespace rushlight::python
