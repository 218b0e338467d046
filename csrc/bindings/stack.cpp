// The bounds of a thread's stack, and the error of a thread that is near the lower one.
#include "bindings/stack.h"

#include <algorithm>
#include <pthread.h>
#include <pybind11/pybind11.h>

#include "bindings/module.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

// What the deepest call keeps for itself: kernels, and CPython's own functions.
constexpr std::size_t kKept = 256 << 10;

struct Bounds {
  std::uintptr_t low = 0;
  std::size_t size = 0;
};
Bounds bounds() {
  Bounds found;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return found;
  void* low = nullptr;
  std::size_t guard = 0;
  if (pthread_attr_getstack(&attributes, &low, &found.size) == 0)
    found.low = reinterpret_cast<std::uintptr_t>(low);
  if (pthread_attr_getguardsize(&attributes, &guard) == 0 && guard < found.size) {
    found.low += guard;
    found.size -= guard;
  }
  pthread_attr_destroy(&attributes);
  return found;
}

}  // namespace

bool look_at_stack() {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const Bounds b = bounds();  // anew: the limit of the first thread's may have been raised
  if (here < b.low || here - b.low >= b.size) {  // a stack of the program's own making
    stack_floor = 0;
    return true;
  }
  stack_floor = b.low + std::min(kKept, b.size / 4);
  if (here >= stack_floor) return true;
  PyErr_Format(PyExc_RecursionError,
               "maximum recursion depth exceeded: %zu KB of this thread's stack of %zu KB are in "
               "use\nnest the calls less deeply, or run them in a thread with a larger one: "
               "threading.stack_size(%zu << 20)",
               (b.size - (here - b.low)) >> 10, b.size >> 10,
               std::max(b.size >> 19, std::size_t(1)));
  return false;
}

void check_stack() {
  if (!has_stack()) throw py::error_already_set();
}

void bind_stack(py::module_& m) {
  static PyMethodDef definition = {
      "_check_stack",
      [](PyObject*, PyObject*) { return has_stack() ? Py_NewRef(Py_None) : nullptr; }, METH_NOARGS,
      "Raises RecursionError where little is left of the thread's stack."};
  m.add_object("_check_stack", PyCFunction_New(&definition, nullptr));
}

}  // namespace rushlight::python
