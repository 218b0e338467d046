// The operators of Tensor.
#include "bindings/signature.h"
#include "ops/ops.h"

namespace rushlight::python {

template <auto F>
static PyObject* binary_slot(PyObject* a, PyObject* b) {
  try {
    const Tensor *x = as_tensor(a), *y = as_tensor(b);
    if (!x || !y) Py_RETURN_NOTIMPLEMENTED;
    return wrap(F(*x, *y));
  } catch (...) {
    return raise_current();
  }
}

std::vector<PyType_Slot> operator_slots() {
  using Slot = void*;
  return {{Py_nb_add, Slot(binary_slot<add>)},
          {Py_nb_subtract, Slot(binary_slot<sub>)},
          {Py_nb_multiply,
           Slot(binary_slot<static_cast<Tensor (*)(const Tensor&, const Tensor&)>(mul)>)},
          {Py_nb_true_divide, Slot(binary_slot<div>)}};
}

}  // namespace rushlight::python
