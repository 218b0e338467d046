// A list of floats as an argument; one number is taken as a list of one.
#pragma once
#include "bindings/table/arguments.h"

namespace rushlight::python {

template <>
struct Argument<std::vector<double>> : ByValue<std::vector<double>> {
  static constexpr const char *expected = "float or tuple of floats",
                              *stub = "float | Sequence[float]";
  static bool read(PyObject* o, std::vector<double>& s) {
    if (!PyList_Check(o) && !PyTuple_Check(o)) return Argument<double>::read(o, s.emplace_back());
    const auto copy = pybind11::reinterpret_steal<pybind11::object>(PySequence_Tuple(o));
    if (!copy) return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(copy.ptr()); ++i)
      if (!Argument<double>::read(PyTuple_GET_ITEM(copy.ptr(), i), s.emplace_back())) return false;
    return true;
  }
};

}  // namespace rushlight::python
