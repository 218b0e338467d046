// The operators of Tensor, one line each. Comparisons, arithmetic and bits come from the pointwise
// ops; what cannot be an operand is left to Python (NotImplemented), whose TypeError then names
// both types.
#include "bindings/autocast.h"
#include "bindings/data.h"
#include "bindings/profile.h"
#include "bindings/rows/pointwise.h"
#include "ops/linalg/matmul.h"

namespace rushlight::python {
namespace {

const Scalar kOne(1);  // alpha of add and sub

bool read_operands(PyObject* a, PyObject* b, Input (&in)[2]) {
  return Argument<Input>::read(a, in[0]) && Argument<Input>::read(b, in[1]);
}

PyObject* of_operands(PyObject* result, PyObject* a, PyObject* b) {
  PyObject* const both[] = {a, b};
  return kept_class(result, nullptr, both, 2);
}

// What reading an operand left behind: an error of its own, or only "not such a thing".
PyObject* not_implemented() {
  if (PyErr_Occurred()) return nullptr;
  Py_RETURN_NOTIMPLEMENTED;
}

template <class Op>
PyObject* binary(PyObject* a, PyObject* b) {
  try {
    Input in[2];
    if (!read_operands(a, b, in)) return not_implemented();
    return of_operands(wrap(pointwise(pointwise_op<Op>(), in, &kOne)), a, b);
  } catch (...) {
    return raise_current();
  }
}
template <class Op>
PyObject* in_place(PyObject* self, PyObject* other) {
  try {
    Input in[2];
    if (!read_operands(self, other, in)) return not_implemented();
    if (!in[0].tensor) return not_implemented();
    pointwise(pointwise_op<Op>(), in, &kOne, {Into::self, in[0].tensor});
    return Py_NewRef(self);
  } catch (...) {
    return raise_current();
  }
}
// number - tensor is rsub(), as its gradient's name tells.
PyObject* subtract(PyObject* a, PyObject* b) {
  if (as_tensor(a)) return binary<Sub>(a, b);
  return binary<Rsub>(b, a);
}
PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  try {
    Input in[2];
    if (!read_operands(a, b, in)) return not_implemented();
    return of_operands(wrap(power_of(in[0], in[1])), a, b);
  } catch (...) {
    return raise_current();
  }
}
PyObject* power_in_place(PyObject* self, PyObject* b, PyObject*) {
  try {
    Input in[2];
    if (!read_operands(self, b, in) || !in[0].tensor) return not_implemented();
    pow(in[0], in[1], {Into::self, in[0].tensor});
    return Py_NewRef(self);
  } catch (...) {
    return raise_current();
  }
}
template <class Op>
PyObject* unary(PyObject* self) {
  try {
    const Input in{as_tensor(self), {}};
    return kept_class(wrap(pointwise(pointwise_op<Op>(), &in)), self);
  } catch (...) {
    return raise_current();
  }
}
PyObject* invert(PyObject* self) {
  if (is_floating(as_tensor(self)->dtype())) {
    PyErr_SetString(PyExc_TypeError,
                    "~ (operator.invert) is only implemented on integer and Boolean-type tensors");
    return nullptr;
  }
  return unary<BitwiseNot>(self);
}
PyObject* plus(PyObject* self) {
  try {
    return kept_class(wrap(positive(*as_tensor(self))), self);
  } catch (...) {
    return raise_current();
  }
}
PyObject* product(PyObject* a, PyObject* b) {
  const Tensor *left = as_tensor(a), *right = as_tensor(b);
  if (!left || !right) return not_implemented();
  try {
    if (!autocast.on) [[likely]]
      return of_operands(wrap(matmul(*left, *right)), a, b);
    return of_operands(wrap(matmul(recast(*left, kLower), recast(*right, kLower))), a, b);
  } catch (...) {
    return raise_current();
  }
}
// An array of NumPy's as a tensor, for the two operators with which torch takes one; null without
// an error for other things, and for arrays of no dtype of ours.
PyObject* array_as_tensor(PyObject* o) {
  if (as_tensor(o) || !is_array(o)) return nullptr;
  try {
    return wrap(from_array(o, true));
  } catch (const TypeError&) {
    return nullptr;
  } catch (...) {
    return raise_current();
  }
}
// The result of a first attempt, or that of f(array) where it found no operand but an array.
template <class F>
PyObject* or_with_array(PyObject* result, PyObject* operand, F&& f) {
  if (result != Py_NotImplemented) [[likely]]
    return result;
  PyObject* array = array_as_tensor(operand);
  if (!array && !PyErr_Occurred()) return result;
  Py_DECREF(result);
  if (!array) return nullptr;
  result = f(array);
  Py_DECREF(array);
  return result;
}
PyObject* divide(PyObject* a, PyObject* b) {
  return or_with_array(binary<Div>(a, b), a, [&](PyObject* t) { return binary<Div>(t, b); });
}
PyObject* equal(PyObject* a, PyObject* b) {
  return or_with_array(binary<Eq>(a, b), b, [&](PyObject* t) { return binary<Eq>(a, t); });
}
constexpr const char* kComparisons[] = {"lt", "le", "eq", "ne", "gt", "ge"};
PyObject* compare(PyObject* a, PyObject* b, int how) {
  switch (how) {
    case Py_LT: return binary<Lt>(a, b);
    case Py_LE: return binary<Le>(a, b);
    case Py_EQ: return equal(a, b);
    case Py_NE: return binary<Ne>(a, b);
    case Py_GT: return binary<Gt>(a, b);
    default: return binary<Ge>(a, b);
  }
}

PyObject* watched_compare(PyObject* a, PyObject* b, int how) {
  PyObject* const args[] = {a, b};
  Span span(kComparisons[how >= Py_LT && how <= Py_GE ? how : 2], nullptr, args, 2);
  return span.end(compare(a, b, how));
}

}  // namespace

void watch_operators() {
  using N = PyNumberMethods;
  watch_slot<&N::nb_add, binary<Add>>("add");
  watch_slot<&N::nb_subtract, subtract>("sub");
  watch_slot<&N::nb_multiply, binary<Mul>>("mul");
  watch_slot<&N::nb_matrix_multiply, product>("matmul");
  watch_slot<&N::nb_true_divide, divide>("div");
  watch_slot<&N::nb_floor_divide, binary<FloorDivide>>("floor_divide");
  watch_slot<&N::nb_remainder, binary<Remainder>>("remainder");
  watch_slot<&N::nb_power, power>("pow");
  watch_slot<&N::nb_and, binary<BitwiseAnd>>("bitwise_and");
  watch_slot<&N::nb_or, binary<BitwiseOr>>("bitwise_or");
  watch_slot<&N::nb_xor, binary<BitwiseXor>>("bitwise_xor");
  watch_slot<&N::nb_lshift, binary<LeftShift>>("bitwise_left_shift");
  watch_slot<&N::nb_rshift, binary<RightShift>>("bitwise_right_shift");
  watch_slot<&N::nb_inplace_add, in_place<Add>>("add_");
  watch_slot<&N::nb_inplace_subtract, in_place<Sub>>("sub_");
  watch_slot<&N::nb_inplace_multiply, in_place<Mul>>("mul_");
  watch_slot<&N::nb_inplace_true_divide, in_place<Div>>("div_");
  watch_slot<&N::nb_inplace_floor_divide, in_place<FloorDivide>>("floor_divide_");
  watch_slot<&N::nb_inplace_remainder, in_place<Remainder>>("remainder_");
  watch_slot<&N::nb_inplace_power, power_in_place>("pow_");
  watch_slot<&N::nb_inplace_and, in_place<BitwiseAnd>>("bitwise_and_");
  watch_slot<&N::nb_inplace_or, in_place<BitwiseOr>>("bitwise_or_");
  watch_slot<&N::nb_inplace_xor, in_place<BitwiseXor>>("bitwise_xor_");
  watch_slot<&N::nb_inplace_lshift, in_place<LeftShift>>("bitwise_left_shift_");
  watch_slot<&N::nb_inplace_rshift, in_place<RightShift>>("bitwise_right_shift_");
  watch_slot<&N::nb_negative, unary<Neg>>("neg");
  watch_slot<&N::nb_absolute, unary<Abs>>("abs");
  watch_slot<&N::nb_invert, invert>("bitwise_not");
  add_watched([](bool watched) {
    struct Change {
      richcmpfunc from, to;
    } change = {compare, watched_compare};
    if (!watched) std::swap(change.from, change.to);
    for_each_tensor_type(&change, [](void* context, PyHeapTypeObject& type) {
      const auto& c = *static_cast<Change*>(context);
      if (type.ht_type.tp_richcompare == c.from) type.ht_type.tp_richcompare = c.to;
    });
  });
}

std::vector<PyType_Slot> operator_slots() {
  using Slot = void*;
  return {{Py_nb_add, Slot(binary<Add>)},
          {Py_nb_subtract, Slot(subtract)},
          {Py_nb_multiply, Slot(binary<Mul>)},
          {Py_nb_matrix_multiply, Slot(product)},
          {Py_nb_true_divide, Slot(divide)},
          {Py_nb_floor_divide, Slot(binary<FloorDivide>)},
          {Py_nb_remainder, Slot(binary<Remainder>)},
          {Py_nb_power, Slot(power)},
          {Py_nb_and, Slot(binary<BitwiseAnd>)},
          {Py_nb_or, Slot(binary<BitwiseOr>)},
          {Py_nb_xor, Slot(binary<BitwiseXor>)},
          {Py_nb_lshift, Slot(binary<LeftShift>)},
          {Py_nb_rshift, Slot(binary<RightShift>)},
          {Py_nb_inplace_add, Slot(in_place<Add>)},
          {Py_nb_inplace_subtract, Slot(in_place<Sub>)},
          {Py_nb_inplace_multiply, Slot(in_place<Mul>)},
          {Py_nb_inplace_true_divide, Slot(in_place<Div>)},
          {Py_nb_inplace_floor_divide, Slot(in_place<FloorDivide>)},
          {Py_nb_inplace_remainder, Slot(in_place<Remainder>)},
          {Py_nb_inplace_power, Slot(power_in_place)},
          {Py_nb_inplace_and, Slot(in_place<BitwiseAnd>)},
          {Py_nb_inplace_or, Slot(in_place<BitwiseOr>)},
          {Py_nb_inplace_xor, Slot(in_place<BitwiseXor>)},
          {Py_nb_inplace_lshift, Slot(in_place<LeftShift>)},
          {Py_nb_inplace_rshift, Slot(in_place<RightShift>)},
          {Py_nb_negative, Slot(unary<Neg>)},
          {Py_nb_positive, Slot(plus)},
          {Py_nb_absolute, Slot(unary<Abs>)},
          {Py_nb_invert, Slot(invert)},
          {Py_tp_richcompare, Slot(compare)}};
}

}  // namespace rushlight::python
