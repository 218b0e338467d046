// From Python, one struct per C++ parameter type of an op:
//   Slot      what is kept during the call
//   read()    false: "not such a thing", with no Python error set
//   expected  completes "must be ..."
//   stub      its spelling in a .pyi
//   excludes() optional: whether the object's type alone says that it is not such a thing
// and to Python, one to_python() per result type. A new type is one specialisation.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "bindings/tensor/python_tensor.h"
#include "ops/input.h"

namespace rushlight::python {

template <class T>
struct Argument;

inline bool is_list(PyObject* o) { return PyTuple_Check(o) || PyList_Check(o); }

// Numbers, texts and tuples themselves, no class derived from them: known by their type alone.
inline bool is_plain(PyObject* o) {
  const PyTypeObject* type = Py_TYPE(o);
  return type == &PyLong_Type || type == &PyFloat_Type || type == &PyUnicode_Type ||
         type == &PyTuple_Type;
}

template <class T>
struct ByValue {
  using Slot = T;
  static T&& pass(T& s) { return std::move(s); }
};

template <>
struct Argument<const Tensor&> {
  using Slot = const Tensor*;
  static constexpr const char *expected = "Tensor", *stub = "Tensor";
  static bool read(PyObject* o, Slot& s) { return (s = as_tensor(o)) != nullptr; }
  static bool excludes(PyObject* o) { return is_plain(o); }
  static const Tensor& pass(Slot& s) { return *s; }
};

template <>
struct Argument<Tensor> : ByValue<Tensor> {
  static constexpr const char *expected = "Tensor", *stub = "Tensor";
  static bool read(PyObject* o, Tensor& s) {
    const Tensor* t = as_tensor(o);
    if (t) s = *t;
    return t != nullptr;
  }
  static bool excludes(PyObject* o) { return is_plain(o); }
};

// The number in a 0-d tensor, where torch takes one: without history, and for ints no fraction.
bool read_number_of_tensor(const Tensor& t, Scalar& s);
bool read_index(PyObject* o, std::int64_t& s);  // NumPy integers and other __index__ types

template <>
struct Argument<std::int64_t> : ByValue<std::int64_t> {
  static constexpr const char *expected = "int", *stub = "int";
  static bool read(PyObject* o, std::int64_t& s) {
    if (PyLong_CheckExact(o)) [[likely]] {
      int overflow;
      s = PyLong_AsLongLongAndOverflow(o, &overflow);
      return !overflow;
    }
    return read_index(o, s);
  }
};

template <>
struct Argument<double> : ByValue<double> {
  static constexpr const char *expected = "float", *stub = "float";
  static bool read(PyObject* o, double& s) {
    if (PyFloat_CheckExact(o)) [[likely]] {
      s = PyFloat_AS_DOUBLE(o);
      return true;
    }
    return read_slowly(o, s);
  }
  static bool read_slowly(PyObject* o, double& s);
};

template <>
struct Argument<bool> : ByValue<bool> {
  static constexpr const char *expected = "bool", *stub = "bool";
  static bool read(PyObject* o, bool& s) {
    return (s = o == Py_True) || o == Py_False || read_slowly(o, s);
  }
  static bool read_slowly(PyObject* o, bool& s);  // numpy.bool_
};

// What torch reads with `if` in a function of its own in Python: a bool is any object's truth.
struct Truth {
  bool value = false;
  operator bool() const { return value; }
};
template <>
struct Argument<Truth> : ByValue<Truth> {
  static constexpr const char *expected = Argument<bool>::expected, *stub = Argument<bool>::stub;
  static bool read(PyObject* o, Truth& s) {
    return (s.value = o == Py_True) || o == Py_False || read_slowly(o, s);
  }
  static bool read_slowly(PyObject* o, Truth& s);
};

template <>
struct Argument<Scalar> : ByValue<Scalar> {
  static constexpr const char *expected = "Number", *stub = "float";
  static bool read(PyObject* o, Scalar& s) {
    if (PyFloat_CheckExact(o)) {
      s = Scalar(PyFloat_AS_DOUBLE(o));
      return true;
    }
    return read_slowly(o, s);
  }
  static bool read_slowly(PyObject* o, Scalar& s);
};

// A number that may be complex: then it is a 0-d tensor.
struct AnyNumber {
  Scalar scalar;
  Tensor complex;
};
template <>
struct Argument<AnyNumber> : ByValue<AnyNumber> {
  static constexpr const char *expected = "Number", *stub = "complex";
  static bool read(PyObject* o, AnyNumber& s) {
    return PyFloat_CheckExact(o) ? Argument<Scalar>::read(o, s.scalar) : read_slowly(o, s);
  }
  static bool read_slowly(PyObject* o, AnyNumber& s);
};

template <>
struct Argument<std::string_view> : ByValue<std::string_view> {
  static constexpr const char *expected = "str", *stub = "str";
  static bool read(PyObject* o, std::string_view& s) {
    Py_ssize_t n;
    const char* text = PyUnicode_Check(o) ? PyUnicode_AsUTF8AndSize(o, &n) : nullptr;
    if (text)
      s = {text, std::size_t(n)};
    else
      PyErr_Clear();
    return text != nullptr;
  }
};

// An int, a list or tuple of ints, or (for a *name parameter) the positional arguments themselves.
// A bool is an int but for the first one, as torch has it.
template <>
struct Argument<Shape> : ByValue<Shape> {
  static constexpr const char *expected = "tuple of ints", *stub = "int | Sequence[int]";
  static bool read(PyObject* o, Shape& s);
  static bool read_many(PyObject* const* items, Py_ssize_t n, Shape& s);
};

template <>
struct Argument<const Shape&> : Argument<Shape> {
  static const Shape& pass(Shape& s) { return s; }
};

// The ints of a list or tuple, where torch takes no int in its place.
struct Listed : Shape {};
template <>
struct Argument<Listed> : ByValue<Listed> {
  static constexpr const char *expected = Argument<Shape>::expected, *stub = "Sequence[int]";
  static bool read(PyObject* o, Listed& s) { return is_list(o) && Argument<Shape>::read(o, s); }
};

// The same for a function that takes a view of them; None is none at all.
template <>
struct Argument<Sizes> : Argument<Shape> {
  static bool read(PyObject* o, Shape& s) {
    if (o != Py_None) return Argument<Shape>::read(o, s);
    s.rank = 0;
    return true;
  }
  static Sizes pass(Shape& s) { return s.view(); }
};

// Any number of ints: not the sizes of one tensor, so without a limit.
template <>
struct Argument<std::vector<std::int64_t>> : ByValue<std::vector<std::int64_t>> {
  static constexpr const char *expected = "list of ints", *stub = "Sequence[int]";
  static bool read(PyObject* o, std::vector<std::int64_t>& s);
  static bool read_many(PyObject* const* items, Py_ssize_t n, std::vector<std::int64_t>& s);
};

// Exactly N ints; one int is taken N times: stride=1, stride=(1, 2).
template <std::size_t N>
struct Argument<std::array<std::int64_t, N>> : ByValue<std::array<std::int64_t, N>> {
  static constexpr const char *expected = Argument<Shape>::expected, *stub = Argument<Shape>::stub;
  static bool read(PyObject* o, std::array<std::int64_t, N>& s) {
    Shape list;
    if (!Argument<Shape>::read(o, list) || (list.rank != 1 && list.rank != int(N))) return false;
    for (std::size_t i = 0; i < N; ++i) s[i] = list.sizes[list.rank == 1 ? 0 : i];
    return true;
  }
};

inline PyObject* dtype_objects[kStoredDTypes];  // the singletons rushlight.float32, ...
template <>
struct Argument<DType> : ByValue<DType> {
  static constexpr const char *expected = "torch.dtype", *stub = "dtype";
  static bool read(PyObject* o, DType& s) {
    for (int i = 0; i < kDTypes; ++i)
      if (o == dtype_objects[i]) {
        s = DType(i);
        return true;
      }
    return read_stored(o, s) || read_python_type(o, s);
  }
  static bool excludes(PyObject* o) {
    return Py_TYPE(o) != Py_TYPE(dtype_objects[0]) && !PyType_Check(o);
  }
  static bool read_stored(PyObject* o, DType& s);
  static bool read_python_type(PyObject* o, DType& s);  // float, int, bool
};

template <>
struct Argument<Device> : ByValue<Device> {
  static constexpr const char *expected = "torch.device", *stub = "device | str | int";
  static bool read(PyObject* o, Device& s);  // a device, a string, or the number of a GPU
};

template <class T>
struct Argument<std::optional<T>> : ByValue<std::optional<T>> {
  static constexpr const char *expected = Argument<T>::expected, *stub = Argument<T>::stub;
  static bool read(PyObject* o, std::optional<T>& s) {
    if (o == Py_None) {
      s.reset();
      return true;
    }
    return Argument<T>::read(o, s.emplace());
  }
};

// By reference: a caller that takes it apart again in a register waits for the bytes just written.
template <class T>
struct Argument<const std::optional<T>&> : Argument<std::optional<T>> {
  static const std::optional<T>& pass(std::optional<T>& s) { return s; }
};

// A list or tuple of tensors, or the positional arguments of a *name; held by value, as the list
// may change during the call.
template <>
struct Argument<const std::vector<Tensor>&> {
  using Slot = std::vector<Tensor>;
  static constexpr const char *expected = "tuple of Tensors", *stub = "Sequence[Tensor]";
  static bool read(PyObject* o, Slot& s);
  static bool read_many(PyObject* const* items, Py_ssize_t n, Slot& s);
  static const Slot& pass(Slot& s) { return s; }
};

template <>
struct Argument<Input> : ByValue<Input> {
  static constexpr const char *expected = "Tensor or Number", *stub = "Tensor | complex";
  static bool read(PyObject* o, Input& s) {
    if ((s.tensor = as_tensor(o))) [[likely]]
      return true;
    return Argument<Scalar>::read(o, s.scalar);
  }
};

// Any Python object, borrowed for the call.
template <>
struct Argument<pybind11::handle> : ByValue<pybind11::handle> {
  static constexpr const char *expected = "object", *stub = "Any";
  static bool read(PyObject* o, pybind11::handle& s) {
    s = o;
    return true;
  }
};

// To Python.
inline PyObject* to_python(Tensor t) { return wrap(std::move(t)); }
inline PyObject* to_python(double v) { return PyFloat_FromDouble(v); }
inline PyObject* to_python(std::int64_t v) { return PyLong_FromLongLong(v); }
inline PyObject* to_python(Truth v) { return Py_NewRef(v ? Py_True : Py_False); }
inline PyObject* to_python(bool v) { return Py_NewRef(v ? Py_True : Py_False); }
inline PyObject* to_python(const std::string& v) {
  return PyUnicode_FromStringAndSize(v.data(), Py_ssize_t(v.size()));
}
inline PyObject* to_python(DType d) { return Py_NewRef(dtype_objects[int(d)]); }
inline PyObject* to_python(pybind11::object o) { return o.release().ptr(); }
PyObject* to_python(Scalar s);
PyObject* to_python(const Shape& s);  // torch.Size
PyObject* to_python(const std::vector<Tensor>& list);  // a tuple
template <class... T>
PyObject* to_python(std::tuple<T...> values) {
  PyObject* tuple = PyTuple_New(sizeof...(T));
  if (!tuple) return nullptr;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (PyTuple_SET_ITEM(tuple, I, to_python(std::move(std::get<I>(values)))), ...);
  }(std::index_sequence_for<T...>{});
  return tuple;
}

template <class T>
constexpr const char* stub_of = "Tensor";
template <>
constexpr const char* stub_of<double> = "float";
template <>
constexpr const char* stub_of<std::int64_t> = "int";
template <>
constexpr const char* stub_of<bool> = "bool";
template <>
constexpr const char* stub_of<void> = "None";
template <>
constexpr const char* stub_of<std::string> = "str";
template <>
constexpr const char* stub_of<DType> = "dtype";
template <>
constexpr const char* stub_of<Device> = "device";
template <>
constexpr const char* stub_of<Scalar> = "float";
template <>
constexpr const char* stub_of<Shape> = "Size";
template <>
constexpr const char* stub_of<pybind11::object> = "Any";
template <>
constexpr const char* stub_of<std::vector<Tensor>> = "tuple[Tensor, ...]";
template <>
constexpr const char* stub_of<std::tuple<Tensor, Tensor>> = "tuple[Tensor, Tensor]";
template <>
constexpr const char* stub_of<std::tuple<Tensor, Tensor, Tensor>> = "tuple[Tensor, Tensor, Tensor]";

}  // namespace rushlight::python
