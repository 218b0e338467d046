// What python/rushlight/nn/parallel is built from. Called once per batch, so plain pybind11.
#include "parallel/parallel.h"

#include <pybind11/stl.h>

#include "bindings/module.h"
#include "bindings/tensor/python_tensor.h"
#include "core/cuda.h"
#include "core/unlocked.h"
#include "parallel/collectives.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

// Whether the module's tensors, and those of the modules inside, all lie on `device`. False also
// for what is not as Module makes it, or so deep or large that it may never end: Python looks
// closer.
bool lies_on(PyObject* module, Device device, int depth, int& visits) {
  if (depth > 100 || ++visits > 100000) return false;
  const auto fields = py::reinterpret_steal<py::object>(PyObject_GetAttrString(module, "__dict__"));
  if (!fields || !PyDict_Check(fields.ptr())) return PyErr_Clear(), false;
  const auto holds = [&](const char* name, auto is_good) {
    PyObject* items = PyDict_GetItemString(fields.ptr(), name);
    if (!items || !PyDict_Check(items)) return false;
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(items, &at, &key, &value);)
      if (value != Py_None && !is_good(value)) return false;
    return true;
  };
  const auto is_there = [&](PyObject* value) {
    const Tensor* t = as_tensor(value);
    return t && t->device() == device;
  };
  return holds("_parameters", is_there) && holds("_buffers", is_there) &&
         holds("_modules",
               [&](PyObject* value) { return lies_on(value, device, depth + 1, visits); });
}

// Tensors on `device`: nothing to send there.
bool are_plainly_on(const py::tuple& values, Device device) {
  for (const py::handle value : values) {
    const Tensor* t = as_tensor(value.ptr());
    if (!t || t->device() != device) return false;
  }
  return true;
}

}  // namespace

void bind_parallel(py::module_& m) {
  m.def("_scatter", [](const Tensor& input, const std::vector<int>& devices, std::int64_t dim) {
    for (const int index : devices) check_cuda_index(index);
    return scatter(input, devices, dim);
  });
  m.def("_gather", gather_devices);
  m.def("_broadcast_from", broadcast_from);
  m.def("_copy_together", copy_together);
  m.def("_sum_parts", sum_parts);
  m.def("_lies_on", [](const py::object& module, Device device) {
    int visits = 0;
    return lies_on(module.ptr(), device, 0, visits);
  });
  m.def("_are_plainly_on", are_plainly_on);
  m.def("_is_alive", [](const Tensor& t) {
    return !t.device().is_cuda() || cuda_is_alive(t.storage().generation);
  });
}

}  // namespace rushlight::python
