// The module rushlight._C: the types, then every family.
#include "bindings/module.h"

#include <pybind11/pybind11.h>

#include "bindings/tensor/python_tensor.h"

namespace py = pybind11;
using namespace rushlight::python;

// __all__, the names without an underscore: what `from rushlight._C import *` makes the top level.
static py::list names_of_top(const py::module_& m) {
  py::list names;
  for (const auto& [key, value] : m.attr("__dict__").cast<py::dict>()) {
    const std::string name = py::cast<std::string>(key);
    if (!name.starts_with('_')) names.append(key);
  }
  names.attr("sort")();
  return names;
}

static int pybind11_exec__C(PyObject*);

// PYBIND11_MODULE with a test before the rest: the types and the state are the process's, and to
// ask for the lock in a subinterpreter, as pybind11 does first of all, waits for ever.
extern "C" PYBIND11_EXPORT PyObject* PyInit__C() {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_ImportError,
                    "rushlight cannot be imported by a subinterpreter: import it in the main "
                    "interpreter of a process");
    return nullptr;
  }
  PYBIND11_CHECK_PYTHON_VERSION
  static auto slots = py::detail::init_slots(&pybind11_exec__C);
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_C",    nullptr, 0,      nullptr,
                                   slots.data(),          nullptr, nullptr, nullptr};
  return PyModuleDef_Init(&definition);
}

PYBIND11_MODULE_EXEC(_C, m) {
  m.attr("__public__") = "rushlight";
  for (const char* name : {"_nn", "_special", "_linalg", "_fft"}) m.def_submodule(name);
  bind_return_types(m);
  bind_types(m);
  bind_errors(m);
  make_tensor_type(m);
  bind_from_data(m);
  bind_creation(m);
  bind_ranges(m);
  bind_copy(m);
  bind_view(m);
  bind_index(m);
  bind_triangular(m);
  bind_diagonal(m);
  bind_equal(m);
  bind_join(m);
  bind_repeat(m);
  bind_split(m);
  bind_flip(m);
  bind_broadcast(m);
  bind_grid(m);
  bind_samples(m);
  bind_slice_scatter(m);
  bind_distance(m);
  bind_pointwise(m);
  bind_complex(m);
  bind_random(m);
  bind_dropout(m);
  bind_reduce(m);
  bind_table(m);
  bind_operation(m);
  bind_missing_names(m);
  bind_scan(m);
  bind_fft(m);
  bind_sort(m);
  bind_histogram(m);
  bind_search(m);
  bind_matmul(m);
  bind_conv(m);
  bind_pool(m);
  bind_norm(m);
  bind_softmax(m);
  bind_embedding(m);
  bind_sparse(m);
  bind_functional(m);
  bind_autograd(m);
  bind_function(m);
  bind_graph(m);
  bind_anomaly(m);
  bind_autocast(m);
  bind_numpy(m);
  bind_image(m);
  bind_dlpack(m);
  bind_storage(m);
  bind_optim(m);
  bind_pad(m);
  bind_ctc(m);
  bind_recurrent(m);
  bind_cuda(m);
  bind_parallel(m);
  bind_distributed(m);
  bind_info(m);
  bind_module_call(m);
  bind_stack(m);
  bind_profile(m);
  bind_overrides(m);
  guard_classes(m);
  m.attr("__all__") = names_of_top(m);
}
