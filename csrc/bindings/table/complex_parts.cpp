// Rows that do the same with the real and with the imaginary parts of complex numbers: what moves
// or sums elements. They are called with either, and the results are joined.
#include "bindings/data.h"
#include "ops/ops.h"
#include "signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

bool is_complex_tensor(PyObject* o) {
  const Tensor* t = as_tensor(o);
  return t && *t && is_complex(t->dtype());
}
py::object owned(PyObject* o) {
  if (!o) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(o);
}

// An argument of the call with the real parts, or with the imaginary ones, where real numbers are
// 0.
py::object part_of(const Signature& s, std::size_t i, PyObject* o, bool imaginary, bool in_list) {
  DType dtype;
  if (const Tensor* t = as_tensor(o)) {
    if (is_complex(t->dtype())) return owned(wrap(imaginary ? imag(*t) : real(*t)));
    const bool is_value = s.parameters[i].name == "value" && t->dim() == 0;
    if (is_floating(t->dtype()) && !in_list && !is_value)
      fail<RuntimeError>(s.name, "(): expected all tensors to have the same dtype, but ",
                         s.parameters[i].name, " is ", t->dtype(),
                         " beside complex numbers: convert it, for example with .cfloat()");
    return imaginary && (in_list || is_value) ? owned(wrap(zeros_like(*t)))
                                              : py::reinterpret_borrow<py::object>(o);
  }
  if (is_complex_number(o)) {
    const Py_complex v = PyComplex_AsCComplex(o);
    if (v.real == -1.0 && PyErr_Occurred()) throw py::error_already_set();
    return owned(PyFloat_FromDouble(imaginary ? v.imag : v.real));
  }
  if (is_list(o)) {
    py::list parts;
    const py::object items = owned(PySequence_Tuple(o));  // other threads may change the list
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(items.ptr()); ++k)
      parts.append(part_of(s, i, PyTuple_GET_ITEM(items.ptr(), k), imaginary, true));
    return parts;
  }
  if (Argument<DType>::read_stored(o, dtype) && is_complex(dtype))
    return owned(to_python(real_of(dtype)));
  if (imaginary && s.parameters[i].name == "value" && PyNumber_Check(o))
    return owned(PyFloat_FromDouble(0));
  return py::reinterpret_borrow<py::object>(o);
}

py::object called(const Signature& s, const Call& call, bool imaginary) {
  std::vector<py::object> held;
  std::vector<PyObject*> values;
  for (std::size_t i = 0; i < s.count(); ++i) {
    held.push_back(part_of(s, i, call.values[i], imaginary, false));
    values.push_back(held.back().ptr());
  }
  return owned(s.call({.values = values.data(), .rest = {}, .is_method = call.is_method}));
}

// The name without the underscore computes, and the result is copied: so it has its history.
PyObject* write_to_self(const Signature& s, const Call& call) {
  const std::string plain = s.name.substr(0, s.name.size() - 1);
  const py::object method = owned(PyObject_GetAttrString(call.values[0], plain.c_str()));
  const Py_ssize_t skipped = call.is_method ? 0 : 1;
  const py::object out = owned(PyObject_Vectorcall(method.ptr(), call.args + skipped,
                                                   std::size_t(call.n - skipped), call.keywords));
  copy_(*as_tensor(call.values[0]), returned_tensor(plain, out.ptr()));
  return Py_NewRef(call.values[0]);
}

}  // namespace

PyObject* call_by_parts(const Signature& s, const Call& call) {
  bool any = false, is_wanted = false;
  for (std::size_t i = 0; i < s.count(); ++i) {
    PyObject* o = call.values[i];
    DType dtype;
    any |= is_complex_tensor(o);
    is_wanted |=
        is_complex_number(o) || (Argument<DType>::read_stored(o, dtype) && is_complex(dtype));
    if (is_list(o))
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o); ++k)
        any |= is_complex_tensor(PySequence_Fast_GET_ITEM(o, k));
  }
  if (!any && is_wanted)
    fail<RuntimeError>(s.name, "(): Converting complex Scalar to non-complex type is not supported",
                       "\nconvert the input first, for example with .cfloat()");
  if (!any) return nullptr;
  if (s.name.back() == '_') return write_to_self(s, call);
  const py::object re = called(s, call, false), im = called(s, call, true);
  return wrap(complex_of(returned_tensor(s.name, re.ptr()), returned_tensor(s.name, im.ptr())));
}

}  // namespace rushlight::python
