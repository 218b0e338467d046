// The operators of Tensor, one line each. Comparisons, arithmetic and bits come from the pointwise
// ops; what cannot be an operand is left to Python (NotImplemented), whose TypeError then names
// both types.
#include "bindings/autocast.h"
#include "bindings/data.h"
#include "bindings/profile.h"
#include "bindings/rows/pointwise.h"
#include "bindings/stack.h"
#include "ops/linalg/matmul.h"

namespace py = pybind11;

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

// What reading an operand left behind: an error of its own, or only "not such a thing". Where that
// is of a class with __torch_function__, the slot is called again, which looks from now on.
// A complex number, which no Scalar holds, becomes a tensor, and `slot` is called with that.
template <class... A>
PyObject* not_implemented(PyObject* (*again)(A...), std::type_identity_t<PyObject* (*)(A...)> slot,
                          std::type_identity_t<A>... a) {
  if (!has_stack()) return nullptr;  // the other operand's class may come back here
  std::array<PyObject*, sizeof...(A)> args = {a...};
  if (!PyErr_Occurred() && !overriding && is_taken_over(nullptr, args.data(), 2)) {
    start_overriding();
    return again(a...);
  }
  if (PyErr_Occurred()) return nullptr;
  for (const std::size_t i : {0, 1})
    if (slot && is_complex_number(args[i]) && as_tensor(args[1 - i])) {
      const auto number = py::reinterpret_steal<py::object>(complex_as_tensor(args[i]));
      args[i] = number.ptr();
      return number ? std::apply(slot, std::tuple_cat(args)) : nullptr;
    }
  Py_RETURN_NOTIMPLEMENTED;
}

constexpr const char* kComparisons[] = {"lt", "le", "eq", "ne", "gt", "ge"};
PyObject* watched_compare(PyObject* a, PyObject* b, int how);
PyObject* subtract(PyObject* a, PyObject* b);
PyObject* divide(PyObject* a, PyObject* b);
// The watched slot of an operator.
template <class Op>
PyObject* again(PyObject* a, PyObject* b);

template <class Op>
PyObject* binary(PyObject* a, PyObject* b) {
  try {
    Input in[2];
    if (!read_operands(a, b, in)) return not_implemented(again<Op>, binary<Op>, a, b);
    // number + tensor is add(tensor, number), as the order of grad_fn.next_functions tells.
    if constexpr (std::is_same_v<Op, Add> || std::is_same_v<Op, Mul>)
      if (!in[0].tensor) std::swap(in[0], in[1]);
    return of_operands(wrap(pointwise(pointwise_op<Op>(), in, &kOne)), a, b);
  } catch (...) {
    return raise_current();
  }
}
template <class Op>
PyObject* in_place(PyObject* self, PyObject* other) {
  try {
    Input in[2];
    if (!read_operands(self, other, in) || !in[0].tensor)
      return not_implemented(WatchedSlot<in_place<Op>>::call, in_place<Op>, self, other);
    pointwise(pointwise_op<Op>(), in, &kOne, {Into::self, in[0].tensor});
    return Py_NewRef(self);
  } catch (...) {
    return raise_current();
  }
}
// scalar - tensor is rsub(), as its gradient's name tells.
PyObject* subtract(PyObject* a, PyObject* b) {
  if (as_tensor(a)) return binary<Sub>(a, b);
  return binary<Rsub>(b, a);
}
PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  try {
    Input in[2];
    if (!read_operands(a, b, in))
      return not_implemented(WatchedSlot<power>::call, power, a, b, modulus);
    return of_operands(wrap(power_of(in[0], in[1])), a, b);
  } catch (...) {
    return raise_current();
  }
}
PyObject* power_in_place(PyObject* self, PyObject* b, PyObject* modulus) {
  try {
    Input in[2];
    if (!read_operands(self, b, in) || !in[0].tensor)
      return not_implemented(WatchedSlot<power_in_place>::call, power_in_place, self, b, modulus);
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
  if (!left || !right) return not_implemented(WatchedSlot<product>::call, nullptr, a, b);
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
// number / tensor is reciprocal() * number, as torch computes it and the gradient's name tells.
PyObject* divide(PyObject* a, PyObject* b) {
  if (!as_tensor(a) && as_tensor(b)) {
    try {
      Input in[2];
      if (!read_operands(a, b, in)) {
        if (PyErr_Occurred()) return nullptr;
        if (is_complex_number(a)) {
          const auto number = py::reinterpret_steal<py::object>(complex_as_tensor(a));
          const auto inverse = py::reinterpret_steal<py::object>(unary<Reciprocal>(b));
          return number && inverse ? binary<Mul>(inverse.ptr(), number.ptr()) : nullptr;
        }
      } else if (!in[0].tensor) {
        const Tensor inverse = pointwise(pointwise_op<Reciprocal>(), &in[1]);
        const Input factors[] = {as_input(inverse), in[0]};
        return of_operands(wrap(pointwise(pointwise_op<Mul>(), factors, &kOne)), a, b);
      }
    } catch (...) {
      return raise_current();
    }
  }
  return or_with_array(binary<Div>(a, b), a, [&](PyObject* t) { return binary<Div>(t, b); });
}
PyObject* equal(PyObject* a, PyObject* b) {
  return or_with_array(binary<Eq>(a, b), b, [&](PyObject* t) { return binary<Eq>(a, t); });
}
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

template <class Op>
PyObject* again(PyObject* a, PyObject* b) {
  constexpr bool is_comparison[] = {std::is_same_v<Op, Lt>, std::is_same_v<Op, Le>,
                                    std::is_same_v<Op, Eq>, std::is_same_v<Op, Ne>,
                                    std::is_same_v<Op, Gt>, std::is_same_v<Op, Ge>};
  for (int how = Py_LT; how <= Py_GE; ++how)
    if (is_comparison[how]) return watched_compare(a, b, how);
  if constexpr (std::is_same_v<Op, Rsub>) return WatchedSlot<subtract>::call(b, a);
  if constexpr (std::is_same_v<Op, Sub>) return WatchedSlot<subtract>::call(a, b);
  if constexpr (std::is_same_v<Op, Div>) return WatchedSlot<divide>::call(a, b);
  return WatchedSlot<binary<Op>>::call(a, b);
}

PyObject* watched_compare(PyObject* a, PyObject* b, int how) {
  PyObject* const args[] = {a, b};
  if (overriding && is_taken_over(nullptr, args, 2))
    return hand_over_operator(
        how == Py_EQ && is_taken_over(a, nullptr, 0) ? "__eq__" : kComparisons[how], nullptr, args,
        2);
  Span span(kComparisons[how >= Py_LT && how <= Py_GE ? how : 2], nullptr, args, 2);
  return span.end(compare(a, b, how));
}

}  // namespace

void watch_operators() {
  using N = PyNumberMethods;
  watch_slot<&N::nb_add, binary<Add>>("add", "add", "add");
  watch_slot<&N::nb_subtract, subtract>("sub", "sub", "__rsub__");
  watch_slot<&N::nb_multiply, binary<Mul>>("mul", "mul", "mul");
  watch_slot<&N::nb_matrix_multiply, product>("matmul", "matmul", "__rmatmul__");
  watch_slot<&N::nb_true_divide, divide>("div", "div", "__rtruediv__");
  watch_slot<&N::nb_floor_divide, binary<FloorDivide>>("floor_divide", "__floordiv__",
                                                       "__rfloordiv__");
  watch_slot<&N::nb_remainder, binary<Remainder>>("remainder", "remainder", "__rmod__");
  watch_slot<&N::nb_power, power>("pow", "pow", "__rpow__");
  watch_slot<&N::nb_and, binary<BitwiseAnd>>("bitwise_and", "__and__", "bitwise_and");
  watch_slot<&N::nb_or, binary<BitwiseOr>>("bitwise_or", "__or__", "bitwise_or");
  watch_slot<&N::nb_xor, binary<BitwiseXor>>("bitwise_xor", "__xor__", "bitwise_xor");
  watch_slot<&N::nb_lshift, binary<LeftShift>>("bitwise_left_shift", "__lshift__", "__rlshift__");
  watch_slot<&N::nb_rshift, binary<RightShift>>("bitwise_right_shift", "__rshift__", "__rrshift__");
  watch_slot<&N::nb_inplace_add, in_place<Add>>("add_", "add_", nullptr);
  watch_slot<&N::nb_inplace_subtract, in_place<Sub>>("sub_", "sub_", nullptr);
  watch_slot<&N::nb_inplace_multiply, in_place<Mul>>("mul_", "mul_", nullptr);
  watch_slot<&N::nb_inplace_true_divide, in_place<Div>>("div_", "div_", nullptr);
  watch_slot<&N::nb_inplace_floor_divide, in_place<FloorDivide>>("floor_divide_", "floor_divide_",
                                                                 nullptr);
  watch_slot<&N::nb_inplace_remainder, in_place<Remainder>>("remainder_", "remainder_", nullptr);
  watch_slot<&N::nb_inplace_power, power_in_place>("pow_", "pow_", nullptr);
  watch_slot<&N::nb_inplace_and, in_place<BitwiseAnd>>("bitwise_and_", "__iand__", nullptr);
  watch_slot<&N::nb_inplace_or, in_place<BitwiseOr>>("bitwise_or_", "__ior__", nullptr);
  watch_slot<&N::nb_inplace_xor, in_place<BitwiseXor>>("bitwise_xor_", "__ixor__", nullptr);
  watch_slot<&N::nb_inplace_lshift, in_place<LeftShift>>("bitwise_left_shift_", "__ilshift__",
                                                         nullptr);
  watch_slot<&N::nb_inplace_rshift, in_place<RightShift>>("bitwise_right_shift_", "__irshift__",
                                                          nullptr);
  watch_slot<&N::nb_negative, unary<Neg>>("neg", "neg", nullptr);
  watch_slot<&N::nb_positive, plus>(nullptr, "positive", nullptr);
  watch_slot<&N::nb_absolute, unary<Abs>>("abs", "abs", nullptr);
  watch_slot<&N::nb_invert, invert>("bitwise_not", "__invert__", nullptr);
  add_watched([](bool watched) {
    put_slot(&PyTypeObject::tp_richcompare, watched ? compare : watched_compare,
             watched ? watched_compare : compare);
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
