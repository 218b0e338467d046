// The arguments of an operation written in Python, and the call of its function.
#include "composition.h"

#include <pybind11/pybind11.h>

#include "out_variants.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

const char* expected_of(Kind kind) {
  switch (kind) {
    case Kind::tensor: return Argument<Tensor>::expected;
    case Kind::number: return Argument<Scalar>::expected;
    case Kind::integer: return Argument<std::int64_t>::expected;
    case Kind::real: return Argument<double>::expected;
    case Kind::boolean: return Argument<bool>::expected;
    case Kind::truth: return Argument<Truth>::expected;
    case Kind::string: return Argument<std::string_view>::expected;
    case Kind::integers:
    case Kind::int_tuple: return Argument<Shape>::expected;
    case Kind::dtype: return Argument<DType>::expected;
    case Kind::device: return Argument<Device>::expected;
    case Kind::tensors: return Argument<const std::vector<Tensor>&>::expected;
    default: return "object";
  }
}

template <class T>
PyObject* converted(PyObject* o) {
  typename Argument<T>::Slot slot{};
  return Argument<T>::read(o, slot) ? to_python(std::move(slot)) : nullptr;
}

PyObject* tuple_of_ints(PyObject* o) {
  const bool many = is_list(o);
  const auto list =
      py::reinterpret_steal<py::object>(many ? PySequence_Tuple(o) : PyTuple_Pack(1, o));
  if (!list) return nullptr;
  std::vector<std::int64_t> integers;
  const Py_ssize_t n = PyTuple_GET_SIZE(list.ptr());
  if (!Argument<std::vector<std::int64_t>>::read_many(PySequence_Fast_ITEMS(list.ptr()), n,
                                                      integers))
    return nullptr;
  auto made = py::reinterpret_steal<py::object>(PyTuple_New(n));
  for (Py_ssize_t i = 0; i < n; ++i)
    PyTuple_SET_ITEM(made.ptr(), i, PyLong_FromLongLong(integers[std::size_t(i)]));
  return made.release().ptr();
}

// A new reference to what the function gets; null if the value is not of this kind.
PyObject* taken_as(Kind kind, PyObject* o) {
  switch (kind) {
    case Kind::tensor: return as_tensor(o) ? Py_NewRef(o) : nullptr;
    case Kind::number:
      if (PyFloat_CheckExact(o) || PyBool_Check(o)) return Py_NewRef(o);
      return converted<Scalar>(o);
    case Kind::integer: return converted<std::int64_t>(o);
    case Kind::real:
      if (PyLong_CheckExact(o)) {
        double ignored;
        return Argument<double>::read(o, ignored) ? Py_NewRef(o) : nullptr;
      }
      return PyFloat_CheckExact(o) ? Py_NewRef(o) : converted<double>(o);
    case Kind::boolean: return converted<bool>(o);
    case Kind::truth: return converted<Truth>(o);
    case Kind::string: return PyUnicode_Check(o) ? Py_NewRef(o) : nullptr;
    case Kind::integers: return tuple_of_ints(o);
    case Kind::int_tuple: return is_list(o) ? tuple_of_ints(o) : nullptr;
    case Kind::dtype: return converted<DType>(o);
    case Kind::device: return as_tensor(o) ? nullptr : converted<Device>(o);
    case Kind::tensors: {
      std::vector<Tensor> ignored;
      return Argument<const std::vector<Tensor>&>::read(o, ignored) ? PySequence_Tuple(o) : nullptr;
    }
    default: return Py_NewRef(o);
  }
}

PyObject* empty_tuple() {  // CPython has one
  static PyObject* empty = PyTuple_New(0);
  return empty;
}

// References that end with the call.
struct Owned {
  std::vector<PyObject*> list;
  ~Owned() {
    for (PyObject* o : list) Py_XDECREF(o);
  }
};

}  // namespace

PyObject* Composition::call(PyObject** values, std::pair<PyObject* const*, Py_ssize_t> rest,
                            bool is_method) const {
  try {
    const std::size_t count = kinds.size();
    Owned owned;
    for (std::size_t i = 0; i < count; ++i) {
      PyObject* const o = values[i];
      if (o == signature.parameters[i].fallback || kinds[i].empty()) continue;
      if (o == Py_None && optional[i]) continue;
      if (signature.variadic && int(i) + 1 == signature.positional) continue;
      PyObject* taken = nullptr;
      for (const Kind kind : kinds[i])
        if ((taken = taken_as(kind, o)) || PyErr_Occurred()) break;
      if (!taken) {
        if (PyErr_Occurred()) return nullptr;
        std::string expected;
        for (const Kind kind : kinds[i])
          expected += (expected.empty() ? "" : " or ") + std::string(expected_of(kind));
        return signature.wrong_type(i, expected.c_str(), o, is_method), nullptr;
      }
      owned.list.push_back(taken);
      values[i] = taken;
    }
    PyObject* const out = signature.out < 0 ? Py_None : values[count];
    PyObject* result;
    if (autocast.on && signature.row.autocast.casts() && out == Py_None) {
      CastArguments cast(values, count, signature.row.autocast);
      const AutocastOff inside;
      result = compute(cast.values(), rest, is_method);
    } else {
      result = compute(values, rest, is_method);
    }
    if (const char* node = signature.row.node; node && result)
      if (const Tensor* t = as_tensor(result)) named(*t, node);
    if (result && signature.result) result = named_result(signature.result, result);
    return out == Py_None ? result : deliver(signature, result, out);
  } catch (...) {
    return raise_current();
  }
}

PyObject* Composition::compute(PyObject* const* values,
                               std::pair<PyObject* const*, Py_ssize_t> rest, bool is_method) const {
  PyObject* const names = keyword_names.ptr();
  if (!signature.variadic) [[likely]] {
    PyObject* stack[1 + kMaxArguments];  // the first one is the callee's to use
    std::copy(values, values + kinds.size(), stack + 1);
    return PyObject_Vectorcall(function.ptr(), stack + 1,
                               std::size_t(signature.positional) | PY_VECTORCALL_ARGUMENTS_OFFSET,
                               names);
  }
  const Py_ssize_t positional = signature.positional - 1;  // without the *name
  const std::vector<Kind>& kind = kinds[std::size_t(positional)];
  if (!rest.first) {  // f([a, b]) is f(a, b), if the parts have a type
    PyObject* const& one = values[positional];
    const bool many = one == empty_tuple() || (!kind.empty() && is_list(one));
    rest = {many ? PySequence_Fast_ITEMS(one) : &one, many ? PySequence_Fast_GET_SIZE(one) : 1};
  }
  std::vector<PyObject*> stack(1);
  Owned owned;
  const auto push = [&](PyObject* o) {
    owned.list.push_back(Py_NewRef(o));
    stack.push_back(o);
  };
  std::for_each(values, values + positional, push);
  std::for_each(rest.first, rest.first + rest.second, push);
  for (Py_ssize_t i = 0; i < rest.second; ++i)
    if (PyObject* o = stack[std::size_t(1 + positional + i)];
        !kind.empty() && kind[0] == Kind::tensor && !as_tensor(o))
      return signature.wrong_type(std::size_t(positional), expected_of(kind[0]), o, is_method,
                                  std::size_t(i)),
             nullptr;
  const std::size_t given = stack.size() - 1;
  std::for_each(values + signature.positional, values + kinds.size(), push);
  return PyObject_Vectorcall(function.ptr(), stack.data() + 1,
                             given | PY_VECTORCALL_ARGUMENTS_OFFSET, names);
}

}  // namespace rushlight::python
