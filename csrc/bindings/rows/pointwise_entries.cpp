// The C entry points of every pointwise op.
#include "kernels/pointwise_ops.h"
#include "pointwise.h"

namespace rushlight::python {
namespace {

PointwiseFace faces[op_count(PointwiseOps{})];

template <int I>
struct Entry {
  static PyObject* function(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    return call_pointwise(faces[I], nullptr, args, n, keywords);
  }
  static PyObject* functional(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    return call_pointwise_functional(faces[I], args, n, keywords);
  }
  static PyObject* method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    return call_pointwise(faces[I], self, args, n, keywords);
  }
  static PyObject* in_place(PyObject* self, PyObject* const* args, Py_ssize_t n,
                            PyObject* keywords) {
    return call_pointwise_in_place(faces[I], self, args, n, keywords);
  }
  static PyObject* in_place_function(PyObject*, PyObject* const* args, Py_ssize_t n,
                                     PyObject* keywords) {
    return call_pointwise_in_place(faces[I], nullptr, args, n, keywords);
  }
};

template <int... I>
std::span<const PointwiseEntries> entries(std::integer_sequence<int, I...>) {
  static constexpr PointwiseEntries all[] = {{&faces[I], Entry<I>::function, Entry<I>::functional,
                                              Entry<I>::method, Entry<I>::in_place,
                                              Entry<I>::in_place_function}...};
  return all;
}

}  // namespace

std::span<const PointwiseEntries> pointwise_entries() {
  return entries(std::make_integer_sequence<int, op_count(PointwiseOps{})>{});
}

}  // namespace rushlight::python
