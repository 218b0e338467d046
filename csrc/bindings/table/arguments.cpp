// The rarer conversions of arguments.h.
#include "arguments.h"

#include <pybind11/pybind11.h>

#include "bindings/data.h"
#include "bindings/stack.h"
#include "core/backend.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {

bool read_number_of_tensor(const Tensor& t, Scalar& s) {
  if (t.dim() != 0 || t.requires_grad()) return false;
  s = item(t);
  return true;
}

bool read_index(PyObject* o, std::int64_t& s) {
  if (PyBool_Check(o)) return false;
  if (PyLong_Check(o)) {
    int overflow;
    s = PyLong_AsLongLongAndOverflow(o, &overflow);
    return !overflow;
  }
  if (const Tensor* t = as_tensor(o)) {
    Scalar number;
    if (!is_integral(t->dtype()) || t->dtype() == DType::boolean) return false;
    if (!read_number_of_tensor(*t, number)) return false;
    s = number.as_int();
    return true;
  }
  if (!PyIndex_Check(o)) return false;
  PyObject* i = has_stack() ? PyNumber_Index(o) : nullptr;
  const bool ok = i && Argument<std::int64_t>::read(i, s);
  Py_XDECREF(i);
  PyErr_Clear();
  return ok;
}

bool Argument<Shape>::read(PyObject* o, Shape& s) {
  if (PyTuple_Check(o)) return read_many(PySequence_Fast_ITEMS(o), PyTuple_GET_SIZE(o), s);
  if (!PyList_Check(o)) return read_many(&o, 1, s);
  PyObject* copy = PyList_AsTuple(o);  // an item's __index__ could change the list under us
  const bool ok = copy && read(copy, s);
  Py_XDECREF(copy);
  return ok;
}
// An integer in a tensor of one element, whatever its dimensions: torch takes it as a size.
static bool read_lone_integer(PyObject* o, std::int64_t& s) {
  const Tensor* t = as_tensor(o);
  if (!t || t->numel() != 1 || !is_integral(t->dtype()) || t->dtype() == DType::boolean)
    return false;
  s = item(*t).as_int();
  return true;
}

bool Argument<Shape>::read_many(PyObject* const* items, Py_ssize_t n, Shape& s) {
  s.rank = 0;
  for (Py_ssize_t i = 0; i < n; ++i) {
    std::int64_t value = items[i] == Py_True;
    if (!(i && PyBool_Check(items[i])) && !Argument<std::int64_t>::read(items[i], value) &&
        !read_lone_integer(items[i], value))
      return false;
    s.push_back(value);
  }
  return true;
}

bool Argument<std::vector<std::int64_t>>::read(PyObject* o, std::vector<std::int64_t>& s) {
  if (!is_list(o)) return false;
  const auto copy = pybind11::reinterpret_steal<pybind11::object>(PySequence_Tuple(o));
  if (!copy) return false;
  return read_many(PySequence_Fast_ITEMS(copy.ptr()), PyTuple_GET_SIZE(copy.ptr()), s);
}
bool Argument<std::vector<std::int64_t>>::read_many(PyObject* const* items, Py_ssize_t n,
                                                    std::vector<std::int64_t>& s) {
  for (Py_ssize_t i = 0; i < n; ++i) {
    std::int64_t value = items[i] == Py_True;
    if (!(i && PyBool_Check(items[i])) && !Argument<std::int64_t>::read(items[i], value) &&
        !read_lone_integer(items[i], value))
      return false;
    s.push_back(value);
  }
  return true;
}

bool Argument<double>::read_slowly(PyObject* o, double& s) {
  if (PyLong_Check(o)) {  // without the float object PyFloat_AsDouble makes
    s = PyLong_AsDouble(o);
  } else if (const Tensor* t = as_tensor(o)) {
    Scalar number;
    if (!read_number_of_tensor(*t, number)) return false;
    s = number.as_double();
    return true;
  } else {
    if (PyUnicode_Check(o) || !Py_TYPE(o)->tp_as_number || !Py_TYPE(o)->tp_as_number->nb_float)
      return false;
    s = has_stack() ? PyFloat_AsDouble(o) : -1;
  }
  if (s != -1 || !PyErr_Occurred()) return true;
  PyErr_Clear();
  return false;
}

bool Argument<bool>::read_slowly(PyObject* o, bool& s) {
  const std::string_view type = Py_TYPE(o)->tp_name;
  if (type != "numpy.bool_" && type != "numpy.bool") return false;
  const int truth = PyObject_IsTrue(o);
  PyErr_Clear();
  s = truth == 1;
  return truth >= 0;
}

bool Argument<Truth>::read_slowly(PyObject* o, Truth& s) {
  const int truth = PyObject_IsTrue(o);
  if (truth < 0) throw pybind11::error_already_set();
  s.value = truth == 1;
  return true;
}

bool Argument<Scalar>::read_slowly(PyObject* o, Scalar& s) {
  if (PyBool_Check(o)) {
    s = Scalar(o == Py_True);
    return true;
  }
  if (PyLong_Check(o)) {
    int overflow;
    const std::int64_t value = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) {
      PyErr_Clear();
      fail<OverflowError>("int too big to convert: a number of a tensor has at most 64 bits");
    }
    s = Scalar(value);
    return true;
  }
  if (const Tensor* t = as_tensor(o)) return read_number_of_tensor(*t, s);
  if (is_complex_number(o)) return false;
  bool truth;
  if (Argument<bool>::read_slowly(o, truth)) {
    s = Scalar(truth);
    return true;
  }
  std::int64_t integer;
  if (PyIndex_Check(o) && read_index(o, integer)) {
    s = Scalar(integer);
    return true;
  }
  double number;
  if (PySequence_Check(o) && !PyFloat_Check(o))
    return false;  // an array of one number is no number
  if (!Argument<double>::read(o, number)) return false;
  s = Scalar(number);
  return true;
}

bool Argument<AnyNumber>::read_slowly(PyObject* o, AnyNumber& s) {
  if (const Tensor* t = as_tensor(o); t && is_complex(t->dtype())) {
    if (t->dim() != 0 || t->requires_grad()) return false;
    s.complex = to(*t, DType::complex128, kCpu, true);
    s.complex->number = true;
    return true;
  }
  if (!is_complex_number(o)) return Argument<Scalar>::read(o, s.scalar);
  const auto number = pybind11::reinterpret_steal<pybind11::object>(complex_as_tensor(o));
  if (!number) throw pybind11::error_already_set();
  s.complex = *as_tensor(number.ptr());
  return true;
}

bool Argument<DType>::read_stored(PyObject* o, DType& s) {
  for (int i = kDTypes; i < kStoredDTypes; ++i)
    if (o == dtype_objects[i]) {
      s = DType(i);
      return has_stored_dtypes = true;
    }
  return false;
}
bool Argument<DType>::read_python_type(PyObject* o, DType& s) {
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type))
    s = DType::float64;
  else if (o == reinterpret_cast<PyObject*>(&PyLong_Type))
    s = DType::int64;
  else if (o == reinterpret_cast<PyObject*>(&PyBool_Type))
    s = DType::boolean;
  else if (o == reinterpret_cast<PyObject*>(&PyComplex_Type))
    return read_stored(dtype_objects[int(DType::complex128)], s);
  else
    return false;
  return true;
}

bool Argument<const std::vector<Tensor>&>::read(PyObject* o, Slot& s) {
  return is_list(o) && read_many(PySequence_Fast_ITEMS(o), PySequence_Fast_GET_SIZE(o), s);
}
bool Argument<const std::vector<Tensor>&>::read_many(PyObject* const* items, Py_ssize_t n,
                                                     Slot& s) {
  s.reserve(std::size_t(n));
  for (Py_ssize_t i = 0; i < n; ++i) {
    const Tensor* t = as_tensor(items[i]);
    if (!t) return false;
    s.push_back(*t);
  }
  return true;
}

PyObject* to_python(Scalar s) {
  switch (s.kind) {
    case Scalar::Kind::boolean: return to_python(s.i != 0);
    case Scalar::Kind::integer: return to_python(s.i);
    default: return to_python(s.d);
  }
}

PyObject* to_python(const std::vector<Tensor>& list) {
  PyObject* tuple = PyTuple_New(Py_ssize_t(list.size()));
  for (std::size_t i = 0; tuple && i < list.size(); ++i) {
    PyObject* item = wrap(list[i]);
    if (!item) {
      Py_DECREF(tuple);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple, Py_ssize_t(i), item);
  }
  return tuple;
}

}  // namespace rushlight::python
