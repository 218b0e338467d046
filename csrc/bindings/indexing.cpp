// t[...] and t[...] = value, len(), iteration and truth.
#include "bindings/module.h"
#include "bindings/signature.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

const Tensor& self_of(PyObject* o) { return reinterpret_cast<Object*>(o)->value; }

PyObject* subscript(PyObject* self, PyObject* key) {
  try {
    std::int64_t index;
    if (PyLong_CheckExact(key) && Argument<std::int64_t>::read(key, index))
      return wrap(select(self_of(self), 0, index));
    fail<IndexError>("only integers can index here");
  } catch (...) {
    return raise_current();
  }
}

Py_ssize_t length(PyObject* self) {
  const Tensor& t = self_of(self);
  if (t.dim() == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return -1;
  }
  return Py_ssize_t(t->shape[0]);
}

PyObject* iterate(PyObject* self) {
  try {
    const Tensor& t = self_of(self);
    if (t.dim() == 0) fail<TypeError>("iteration over a 0-d tensor");
    PyObject* parts = to_python(unbind(t, 0));
    PyObject* iterator = parts ? PyObject_GetIter(parts) : nullptr;
    Py_XDECREF(parts);
    return iterator;
  } catch (...) {
    return raise_current();
  }
}

int truth(PyObject* self) {
  try {
    const Tensor& t = self_of(self);
    if (t.numel() != 1)
      fail<RuntimeError>("Boolean value of Tensor with ",
                         t.numel() ? "more than one value" : "no values", " is ambiguous");
    return item(t).to<bool>();
  } catch (...) {
    raise_current();
    return -1;
  }
}

PyObject* as_int(PyObject* self) {
  try {
    const Scalar s = item(self_of(self));
    return s.is_floating() ? PyLong_FromDouble(s.d) : PyLong_FromLongLong(s.i);
  } catch (...) {
    return raise_current();
  }
}
PyObject* as_float(PyObject* self) {
  try {
    return PyFloat_FromDouble(item(self_of(self)).as_double());
  } catch (...) {
    return raise_current();
  }
}
PyObject* as_index(PyObject* self) {
  try {
    const Tensor& t = self_of(self);
    if (t.numel() != 1 || is_floating(t.dtype()))
      fail<TypeError>("only integer tensors of a single element can be converted to an index");
    return PyLong_FromLongLong(item(t).as_int());
  } catch (...) {
    return raise_current();
  }
}

}  // namespace

std::vector<PyType_Slot> indexing_slots() {
  using Slot = void*;
  return {{Py_mp_subscript, Slot(subscript)}, {Py_mp_length, Slot(length)},
          {Py_sq_length, Slot(length)},       {Py_tp_iter, Slot(iterate)},
          {Py_nb_bool, Slot(truth)},          {Py_nb_int, Slot(as_int)},
          {Py_nb_float, Slot(as_float)},      {Py_nb_index, Slot(as_index)}};
}

}  // namespace rushlight::python
