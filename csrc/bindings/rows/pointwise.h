// How Python reaches an op of kernels/pointwise_ops.h: one Face per op, read from its signature at
// import, and one function for all that sorts a call's arguments by it. Only the C entry points,
// three lines each, exist per op.
#pragma once
#include "bindings/autocast.h"
#include "bindings/table/signature.h"
#include "ops/pointwise/pointwise.h"

namespace rushlight::python {

struct PointwiseFace {
  const PointwiseOp* op;
  Signature function, in_place;
  Signature functional;  // torch.nn.functional's own, where that has `inplace`
  Scalar defaults[kMaxParameters];
  Policy policy;  // of autocast
  void (*check)(const Scalar* parameters) = nullptr;  // raises for those that make no sense
};
inline PointwiseFace pointwise_faces[op_count(PointwiseOps{})];

PyObject* call_pointwise(const PointwiseFace& f, PyObject* self, PyObject* const* args,
                         Py_ssize_t n, PyObject* keywords);
PyObject* call_pointwise_functional(const PointwiseFace& f, PyObject* const* args, Py_ssize_t n,
                                    PyObject* keywords);
PyObject* call_pointwise_in_place(const PointwiseFace& f, PyObject* self, PyObject* const* args,
                                  Py_ssize_t n, PyObject* keywords);

template <int I>
struct PointwiseEntry {
  static PyObject* function(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    return call_pointwise(pointwise_faces[I], nullptr, args, n, keywords);
  }
  static PyObject* functional(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    return call_pointwise_functional(pointwise_faces[I], args, n, keywords);
  }
  static PyObject* method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    return call_pointwise(pointwise_faces[I], self, args, n, keywords);
  }
  static PyObject* in_place(PyObject* self, PyObject* const* args, Py_ssize_t n,
                            PyObject* keywords) {
    return call_pointwise_in_place(pointwise_faces[I], self, args, n, keywords);
  }
  static PyObject* in_place_function(PyObject*, PyObject* const* args, Py_ssize_t n,
                                     PyObject* keywords) {
    return call_pointwise_in_place(pointwise_faces[I], nullptr, args, n, keywords);
  }
};

// pow() by autocast's rules.
Tensor power_of(Input base, Input exponent);

}  // namespace rushlight::python
