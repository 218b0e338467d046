// Comparisons, tests and logic, whose result is Bool<T>; and the operations on bits.
#pragma once
#include "declare.h"

namespace rushlight {

struct Eq {
  static constexpr auto signature = "eq(input, other)";
  static constexpr auto doc =
      "input == other, as bool.\n"
      ">>> torch.eq(torch.tensor([1, 2, 3]), 2)\n"
      "tensor([False,  True, False])";
  static constexpr auto takes = Takes::anything;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static Bool<T> forward(T a, T b) { return a == b; }
};

struct Ne {
  static constexpr auto signature = "ne(input, other)";
  static constexpr auto doc =
      "input != other, as bool.\n"
      ">>> torch.ne(torch.tensor([1, 2, 3]), 2)\n"
      "tensor([ True, False,  True])";
  static constexpr auto takes = Takes::anything;
  static constexpr auto aliases = "not_equal";
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static Bool<T> forward(T a, T b) { return a != b; }
};

struct Lt {
  static constexpr auto signature = "lt(input, other)";
  static constexpr auto doc =
      "input < other, as bool.\n"
      ">>> torch.lt(torch.tensor([1, 2, 3]), 2)\n"
      "tensor([ True, False, False])";
  static constexpr auto takes = Takes::anything;
  static constexpr auto aliases = "less";
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static Bool<T> forward(T a, T b) { return a < b; }
};

struct Le {
  static constexpr auto signature = "le(input, other)";
  static constexpr auto doc =
      "input <= other, as bool.\n"
      ">>> torch.le(torch.tensor([1, 2, 3]), 2)\n"
      "tensor([ True,  True, False])";
  static constexpr auto takes = Takes::anything;
  static constexpr auto aliases = "less_equal";
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static Bool<T> forward(T a, T b) { return a <= b; }
};

struct Gt {
  static constexpr auto signature = "gt(input, other)";
  static constexpr auto doc =
      "input > other, as bool.\n"
      ">>> torch.gt(torch.tensor([1, 2, 3]), 2)\n"
      "tensor([False, False,  True])";
  static constexpr auto takes = Takes::anything;
  static constexpr auto aliases = "greater";
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static Bool<T> forward(T a, T b) { return a > b; }
};

struct Ge {
  static constexpr auto signature = "ge(input, other)";
  static constexpr auto doc =
      "input >= other, as bool.\n"
      ">>> torch.ge(torch.tensor([1, 2, 3]), 2)\n"
      "tensor([False,  True,  True])";
  static constexpr auto takes = Takes::anything;
  static constexpr auto aliases = "greater_equal";
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static Bool<T> forward(T a, T b) { return a >= b; }
};

struct Isnan {
  static constexpr auto signature = "isnan(input)";
  static constexpr auto doc =
      "True where x is NaN.\n"
      ">>> torch.isnan(torch.tensor([1., float('inf'), float('nan')]))\n"
      "tensor([False, False,  True])";
  static constexpr auto takes = Takes::anything;
  static constexpr bool of_integers = false;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static Bool<T> forward(T x) { return x != x; }
};

struct Isinf {
  static constexpr auto signature = "isinf(input)";
  static constexpr auto doc =
      "True where x is infinite.\n"
      ">>> torch.isinf(torch.tensor([1., float('inf'), float('nan')]))\n"
      "tensor([False,  True, False])";
  static constexpr auto takes = Takes::anything;
  static constexpr bool of_integers = false;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static Bool<T> forward(T x) { return (x == x) & (x - x != T(0)); }
};

struct Isfinite {
  static constexpr auto signature = "isfinite(input)";
  static constexpr auto doc =
      "True where x is neither infinite nor NaN.\n"
      ">>> torch.isfinite(torch.tensor([1., float('inf'), float('nan')]))\n"
      "tensor([ True, False, False])";
  static constexpr auto takes = Takes::anything;
  static constexpr bool of_integers = true;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static Bool<T> forward(T x) { return x - x == T(0); }
};

struct Isposinf {
  static constexpr auto signature = "isposinf(input)";
  static constexpr auto doc =
      "True where x is +infinity.\n"
      ">>> torch.isposinf(torch.tensor([1., float('inf'), float('nan')]))\n"
      "tensor([False,  True, False])";
  static constexpr auto takes = Takes::anything;
  static constexpr bool of_integers = false;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr Saves save = {};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static Bool<T> forward(T x) {
    return (x > T(0)) & (x - x != T(0));
  }
};

struct Isneginf {
  static constexpr auto signature = "isneginf(input)";
  static constexpr auto doc =
      "True where x is -infinity.\n"
      ">>> torch.isneginf(torch.tensor([1., float('inf'), float('nan')]))\n"
      "tensor([False, False, False])";
  static constexpr auto takes = Takes::anything;
  static constexpr bool of_integers = false;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr Saves save = {};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static Bool<T> forward(T x) {
    return (x < T(0)) & (x - x != T(0));
  }
};

struct Signbit {
  static constexpr auto signature = "signbit(input)";
  static constexpr auto doc =
      "True where x is negative, -0.0 included.\n"
      ">>> torch.signbit(torch.tensor([1., -0.]))\n"
      "tensor([False,  True])";
  static constexpr auto takes = Takes::anything;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr Saves save = {};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static Bool<T> forward(T x) { return signbit(x); }
};

struct LogicalNot {
  static constexpr auto signature = "logical_not(input)";
  static constexpr auto doc =
      "True where x is zero.\n"
      ">>> torch.logical_not(torch.tensor([0, 2]))\n"
      "tensor([ True, False])";
  static constexpr auto takes = Takes::anything;
  static constexpr unsigned in_place = Visible::method;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static Bool<T> forward(T x) { return x == T(0); }
};

struct LogicalAnd {
  static constexpr auto signature = "logical_and(input, other)";
  static constexpr auto doc =
      "Whether both are not zero.\n"
      ">>> torch.logical_and(torch.tensor([0, 1]), torch.tensor([1, 1]))\n"
      "tensor([False,  True])";
  static constexpr auto takes = Takes::anything;
  static constexpr bool tensors_only = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static Bool<T> forward(T a, T b) {
    return (a != T(0)) & (b != T(0));
  }
};

struct LogicalOr {
  static constexpr auto signature = "logical_or(input, other)";
  static constexpr auto doc =
      "Whether one or both are not zero.\n"
      ">>> torch.logical_or(torch.tensor([0, 1]), torch.tensor([1, 1]))\n"
      "tensor([True, True])";
  static constexpr auto takes = Takes::anything;
  static constexpr bool tensors_only = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static Bool<T> forward(T a, T b) {
    return (a != T(0)) | (b != T(0));
  }
};

struct LogicalXor {
  static constexpr auto signature = "logical_xor(input, other)";
  static constexpr auto doc =
      "Whether exactly one is not zero.\n"
      ">>> torch.logical_xor(torch.tensor([0, 1]), torch.tensor([1, 1]))\n"
      "tensor([ True, False])";
  static constexpr auto takes = Takes::anything;
  static constexpr bool tensors_only = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static Bool<T> forward(T a, T b) {
    return (a != T(0)) != (b != T(0));
  }
};

struct BitwiseNot {
  static constexpr auto signature = "bitwise_not(input)";
  static constexpr auto doc =
      "~x; of bools, not x.\n"
      ">>> torch.bitwise_not(torch.tensor([0, 5]))\n"
      "tensor([-1, -6])";
  static constexpr auto takes = Takes::integers;
  static constexpr unsigned in_place = Visible::method;
  static constexpr Saves save = {};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x) { return ~x; }
};

struct BitwiseAnd {
  static constexpr auto signature = "bitwise_and(input, other)";
  static constexpr auto doc =
      "input & other\n"
      ">>> torch.bitwise_and(torch.tensor([12, 5]), 2)\n"
      "tensor([0, 0])";
  static constexpr auto takes = Takes::integers;
  static constexpr bool scalar_first = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return a & b; }
};

struct BitwiseOr {
  static constexpr auto signature = "bitwise_or(input, other)";
  static constexpr auto doc =
      "input | other\n"
      ">>> torch.bitwise_or(torch.tensor([12, 5]), 2)\n"
      "tensor([14,  7])";
  static constexpr auto takes = Takes::integers;
  static constexpr bool scalar_first = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return a | b; }
};

struct BitwiseXor {
  static constexpr auto signature = "bitwise_xor(input, other)";
  static constexpr auto doc =
      "input ^ other\n"
      ">>> torch.bitwise_xor(torch.tensor([12, 5]), 2)\n"
      "tensor([14,  7])";
  static constexpr auto takes = Takes::integers;
  static constexpr bool scalar_first = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return a ^ b; }
};

struct LeftShift {
  static constexpr auto signature = "bitwise_left_shift(input, other)";
  static constexpr auto doc =
      R"(input << other

Args:
    other: how many bits, a tensor or a scalar.

>>> torch.bitwise_left_shift(torch.tensor([12, 5]), 2)
tensor([48, 20]))";
  static constexpr auto takes = Takes::shifts;
  static constexpr auto kernel = "lshift_cpu";
  static constexpr bool scalar_first = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return a << b; }
};

struct RightShift {
  static constexpr auto signature = "bitwise_right_shift(input, other)";
  static constexpr auto doc =
      R"(input >> other

Args:
    other: how many bits, a tensor or a scalar.

>>> torch.bitwise_right_shift(torch.tensor([12, 5]), 2)
tensor([3, 1]))";
  static constexpr auto takes = Takes::shifts;
  static constexpr auto kernel = "rshift_cpu";
  static constexpr bool scalar_first = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return a >> b; }
};

using ComparisonOps = OpList<Eq, Ne, Lt, Le, Gt, Ge, Isnan, Isinf, Isfinite, Isposinf, Isneginf,
                             Signbit, LogicalNot, LogicalAnd, LogicalOr, LogicalXor, BitwiseNot,
                             BitwiseAnd, BitwiseOr, BitwiseXor, LeftShift, RightShift>;

}  // namespace rushlight
