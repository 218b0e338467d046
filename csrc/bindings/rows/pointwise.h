// How Python calls a pointwise op: one Face per op, read from its signature at import, and one
// function for all that sorts a call's arguments by it. Only the C entry points, three lines each,
// exist per op.
#pragma once
#include "bindings/autocast.h"
#include "bindings/table/signature.h"
#include "ops/pointwise/pointwise.h"

namespace rushlight::python {

struct PointwiseEntries;
struct PointwiseFace {
  const PointwiseOp* op;
  const PointwiseEntries* entries;
  Signature function, in_place;
  Signature functional;  // torch.nn.functional's own, where that has `inplace`
  Scalar defaults[kMaxParameters];
  Policy policy;  // of autocast
  void (*check)(const Scalar* parameters) = nullptr;  // raises for those that make no sense
};

PyObject* call_pointwise(const PointwiseFace& f, PyObject* self, PyObject* const* args,
                         Py_ssize_t n, PyObject* keywords);
PyObject* call_pointwise_functional(const PointwiseFace& f, PyObject* const* args, Py_ssize_t n,
                                    PyObject* keywords);
PyObject* call_pointwise_in_place(const PointwiseFace& f, PyObject* self, PyObject* const* args,
                                  Py_ssize_t n, PyObject* keywords);

// The C entry points of one op: what differs between the ops here is these alone.
struct PointwiseEntries {
  PointwiseFace* face;
  _PyCFunctionFastWithKeywords function, functional, method, in_place, in_place_function;
};
std::span<const PointwiseEntries> pointwise_entries();  // in the order of pointwise_ops()

// pow() by autocast's rules.
Tensor power_of(Input base, Input exponent);

}  // namespace rushlight::python
