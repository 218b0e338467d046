// Sums, products, quotients and powers.
#pragma once
#include "../math/power.h"
#include "declare.h"

namespace rushlight {

struct Neg {
  static constexpr auto signature = "neg(input)";
  static constexpr auto doc =
      "-x\n"
      ">>> torch.neg(torch.tensor([1., -2.]))\n"
      "tensor([-1.,  2.])";
  static constexpr auto takes = Takes::numeric;
  static constexpr auto refusal =
      "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert "
      "a mask, use the `~` or `logical_not()` operator instead.";
  static constexpr auto aliases = "negative";
  static constexpr Saves save = {};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x) { return -x; }
  template <class T> HOST_DEVICE static T backward(T g) { return -g; }
};

struct Reciprocal {
  static constexpr auto signature = "reciprocal(input)";
  static constexpr auto doc =
      "1 / x\n"
      ">>> torch.reciprocal(torch.tensor([2., -4.]))\n"
      "tensor([ 0.5000, -0.2500])";
  static constexpr auto autocast = Casts::float32_on_gpu;
  static constexpr Saves save = {Save::output};
  static constexpr Domain domain = {0.3, 3};
  template <class T> HOST_DEVICE static T forward(T x) { return T(1) / x; }
  template <class T> HOST_DEVICE static T backward(T g, T y) { return -g * y * y; }
};

struct Square {
  static constexpr auto signature = "square(input)";
  static constexpr auto doc =
      "x * x\n"
      ">>> torch.square(torch.tensor([3., -4.]))\n"
      "tensor([ 9., 16.])";
  static constexpr auto takes = Takes::numeric;
  static constexpr auto node = "PowBackward0";
  static constexpr bool promotes_bool = true;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) { return x * x; }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return g * (T(2) * x); }
};

struct Cube {
  static constexpr auto signature = "cube(input)";
  static constexpr auto doc = "x * x * x, what x ** 3 becomes.";
  static constexpr auto takes = Takes::numeric;
  static constexpr auto node = "PowBackward0";
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) { return x * x * x; }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return g * (T(3) * x * x); }
};

struct Sqrt {
  static constexpr auto signature = "sqrt(input)";
  static constexpr auto doc =
      "The square root of x.\n"
      ">>> torch.sqrt(torch.tensor([4., 2.]))\n"
      "tensor([2.0000, 1.4142])";
  static constexpr Saves save = {Save::output};
  static constexpr Domain domain = {0.1, 4};
  template <class T> HOST_DEVICE static T forward(T x) { return sqrt(x); }
  template <class T> HOST_DEVICE static T backward(T g, T y) { return g / (T(2) * y); }
};

struct Rsqrt {
  static constexpr auto signature = "rsqrt(input)";
  static constexpr auto doc =
      "1 / sqrt(x)\n"
      ">>> torch.rsqrt(torch.tensor([4., 2.]))\n"
      "tensor([0.5000, 0.7071])";
  static constexpr auto autocast = Casts::float32_on_gpu;
  static constexpr Saves save = {Save::output};
  static constexpr Domain domain = {0.1, 4};
  template <class T> HOST_DEVICE static T forward(T x) { return T(1) / sqrt(x); }
  template <class T> HOST_DEVICE static T backward(T g, T y) { return T(-0.5) * g * (y * y * y); }
};

struct Add {
  static constexpr auto signature = "add(input, other, *, alpha=1)";
  static constexpr auto doc =
      R"(input + alpha * other

Args:
    other: the second operand, a tensor or a scalar.
    alpha: the factor of other.

>>> torch.add(torch.tensor([1., 2.]), 10, alpha=2)
tensor([21., 22.]))";
  static constexpr auto takes = Takes::anything;
  static constexpr bool scalars_alone = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T a, T b, T alpha) { return a + alpha * b; }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T alpha) {
    return {g, g * alpha};
  }
};

struct Sub {
  static constexpr auto signature = "sub(input, other, *, alpha=1)";
  static constexpr auto doc =
      R"(input - alpha * other

Args:
    other: the second operand, a tensor or a scalar.
    alpha: the factor of other.

>>> torch.sub(torch.tensor([1., 2.]), torch.tensor([3., 5.]))
tensor([-2., -3.]))";
  static constexpr auto takes = Takes::numeric;
  static constexpr bool scalars_alone = true;
  static constexpr auto aliases = "subtract";
  static constexpr unsigned passes = Save::input;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T a, T b, T alpha) { return a - alpha * b; }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T alpha) {
    return {g, -g * alpha};
  }
};

struct Rsub {
  static constexpr auto signature = "rsub(input, other, alpha=1)";
  static constexpr auto doc =
      R"(other - alpha * input

Args:
    other: what input is subtracted from, a tensor or a scalar.
    alpha: the factor of input.

>>> torch.rsub(torch.tensor([1., 2.]), 10)
tensor([9., 8.]))";
  static constexpr auto takes = Takes::numeric;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr auto node = "RsubBackward1";
  static constexpr unsigned passes = Save::other;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T a, T b, T alpha) { return b - alpha * a; }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T alpha) {
    return {-g * alpha, g};
  }
};

struct Mul {
  static constexpr auto signature = "mul(input, other)";
  static constexpr auto doc =
      R"(input * other

Args:
    other: the second factor, a tensor or a scalar.

>>> torch.mul(torch.tensor([1., 2.]), torch.tensor([3., 5.]))
tensor([ 3., 10.]))";
  static constexpr auto takes = Takes::anything;
  static constexpr bool scalars_alone = true;
  static constexpr auto aliases = "multiply";
  static constexpr Saves save = {Save::other, Save::input};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return a * b; }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b) {
    return {g * b, g * a};
  }
};

struct Div {
  static constexpr auto signature = "div(input, other)";
  static constexpr auto doc = "input / other, the true quotient.";
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr Saves save = {Save::other, Save::input | Save::other};
  static constexpr Domain domain = {0.3, 3};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return a / b; }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b) {
    return {g / b, -g * ((a / b) / b)};
  }
};

struct DivTrunc {
  static constexpr auto signature = "div_trunc(input, other)";
  static constexpr auto doc = "The quotient, rounded towards zero.";
  static constexpr auto takes = Takes::numeric;
  static constexpr auto node = "DivBackward1";
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr bool divides = true;
  static constexpr Saves save = {};
  static constexpr Domain domain = {0.3, 3};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return trunc(a / b); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T) { return {T(0), T(0)}; }
};

struct DivFloor {
  static constexpr auto signature = "div_floor(input, other)";
  static constexpr auto doc = "The quotient, rounded down.";
  static constexpr auto takes = Takes::numeric;
  static constexpr auto node = "DivBackward2";
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr bool divides = true;
  static constexpr Saves save = {};
  static constexpr Domain domain = {0.3, 3};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return floor_divide(a, b); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T) { return {T(0), T(0)}; }
};

struct FloorDivide {
  static constexpr auto signature = "floor_divide(input, other)";
  static constexpr auto doc =
      R"(input / other, rounded down.

Args:
    other: the divisor, a tensor or a scalar.

>>> torch.floor_divide(torch.tensor([7, -7]), 2)
tensor([ 3, -4]))";
  static constexpr auto takes = Takes::numeric;
  static constexpr auto kernel = "div_floor_cpu";
  static constexpr auto node = "NotImplemented";
  using Formula = DivFloor;
  static constexpr bool divides = true;
  static constexpr bool scalars_alone = true;
  static constexpr Saves save = {};
  static constexpr Domain domain = {0.3, 3};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return floor_divide(a, b); }
};

struct Remainder {
  static constexpr auto signature = "remainder(input, other)";
  static constexpr auto doc =
      R"(Python's input % other: the sign is that of the divisor.

Args:
    other: the divisor, a tensor or a scalar.

>>> torch.remainder(torch.tensor([7, -7]), 3)
tensor([1, 2]))";
  static constexpr auto takes = Takes::numeric;
  static constexpr auto node = "RemainderBackward1";
  static constexpr auto node_of_number = "RemainderBackward0";
  static constexpr bool divides = true;
  static constexpr bool scalar_first = true;
  static constexpr unsigned passes = Save::input;
  static constexpr Saves save = {0, Save::input | Save::other};
  static constexpr Domain domain = {0.3, 3};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return remainder(a, b); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b) {
    return {g, -g * floor_divide(a, b)};
  }
};

struct Fmod {
  static constexpr auto signature = "fmod(input, other)";
  static constexpr auto doc =
      R"(C's remainder: the sign is that of the input.

Args:
    other: the divisor, a tensor or a scalar.

>>> torch.fmod(torch.tensor([7, -7]), 3)
tensor([ 1, -1]))";
  static constexpr auto takes = Takes::numeric;
  static constexpr auto node = "FmodBackward1";
  static constexpr auto node_of_number = "FmodBackward0";
  static constexpr bool divides = true;
  static constexpr unsigned passes = Save::input;
  static constexpr Saves save = {0, Save::input | Save::other};
  static constexpr Domain domain = {0.3, 3};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return fmod(a, b); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b) {
    return {g, -g * trunc(a / b)};
  }
};

struct Pow {
  static constexpr auto signature = "pow(input, exponent)";
  static constexpr auto doc = "input to the power exponent.";
  static constexpr auto takes = Takes::numeric;
  static constexpr auto kernel = "pow";
  static constexpr auto node = "PowBackward1";
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr Saves save = {Save::input | Save::other,
                                 Save::input | Save::other | Save::output};
  static constexpr Domain domain = {0.3, 3};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return pow(a, b); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b, T y) {
    // at a = 0 the derivative by b is 0 unless b is negative, not 0 * -inf
    const T lost = where(a == T(0), T(0), g * y * log(where(a == T(0), T(1), a)));
    return {where(b == T(0), T(0), g * (b * pow(a, b - T(1)))),
            where(b < T(0), g * y * log(a), lost)};
  }
};

struct PowScalar {
  static constexpr auto signature = "pow_number(input, exponent=1.0)";
  static constexpr auto doc = "x to the power of a scalar.";
  static constexpr auto node = "PowBackward0";
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr Saves save = {Save::input};
  static constexpr Domain domain = {0.3, 3};
  template <class T> HOST_DEVICE static T forward(T x, T e) { return pow(x, e); }
  template <class T> HOST_DEVICE static T backward(T g, T x, T e) {
    return where(e == T(0), T(0), g * (e * pow(x, e - T(1))));
  }
};

// x ** 0.5, x ** -0.5 and x ** -1: the same formulas under the name that torch gives their
// gradient.
struct SqrtPower : Sqrt {
  using Formula = Sqrt;
  static constexpr auto signature = "sqrt_power(input)";
  static constexpr auto node = "PowBackward0";
  static constexpr unsigned visible = Visible::nowhere;
};
struct RsqrtPower : Rsqrt {
  using Formula = Rsqrt;
  static constexpr auto signature = "rsqrt_power(input)";
  static constexpr auto node = "PowBackward0";
  static constexpr unsigned visible = Visible::nowhere;
};
struct ReciprocalPower : Reciprocal {
  using Formula = Reciprocal;
  static constexpr auto signature = "reciprocal_power(input)";
  static constexpr auto node = "PowBackward0";
  static constexpr unsigned visible = Visible::nowhere;
};

struct Hypot {
  static constexpr auto signature = "hypot(input, other)";
  static constexpr auto doc =
      R"(sqrt(input^2 + other^2), without overflow.

Args:
    other: the second leg.

>>> torch.hypot(torch.tensor([3.]), torch.tensor([4.]))
tensor([5.]))";
  static constexpr auto takes = Takes::floating;
  static constexpr bool tensors_only = true;
  static constexpr Saves save = {Save::input | Save::output, Save::other | Save::output};
  static constexpr Domain domain = {0.3, 3};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return hypot(a, b); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b, T y) {
    return {g * (a / y), g * (b / y)};
  }
};

struct Lerp {
  static constexpr auto signature = "lerp(input, end, weight)";
  static constexpr auto doc =
      R"(input + weight * (end - input)

Args:
    input: the result at weight 0.
    end: the result at weight 1.
    weight: the share of end, a tensor or a scalar.

>>> torch.lerp(torch.tensor([1.]), torch.tensor([3.]), 0.25)
tensor([1.5000]))";
  static constexpr auto takes = Takes::floating;
  static constexpr auto kernel = "lerp_kernel_scalar";
  static constexpr auto node = "LerpBackward1";
  static constexpr auto node_of_number = "LerpBackward0";
  static constexpr Saves save = {Save::third, Save::third, Save::input | Save::other};
  template <class T> HOST_DEVICE static T forward(T a, T b, T w) {
    return where(abs(w) < T(0.5), a + w * (b - a), b - (b - a) * (T(1) - w));
  }
  template <class T> HOST_DEVICE static Grads<T, 3> backward(T g, T a, T b, T w) {
    return {g * (T(1) - w), g * w, g * (b - a)};
  }
};

struct Addcmul {
  static constexpr auto signature = "addcmul(input, tensor1, tensor2, *, value=1)";
  static constexpr auto doc =
      R"(input + value * tensor1 * tensor2

Args:
    tensor1: the first factor.
    tensor2: the second factor.
    value: the factor of the product.

>>> torch.addcmul(torch.ones(2), torch.tensor([1., 2.]), torch.tensor([3., 4.]), value=2)
tensor([ 7., 17.]))";
  static constexpr auto takes = Takes::numeric;
  static constexpr auto kernel = "addcmul_cpu_out";
  static constexpr bool tensors_only = true;
  static constexpr unsigned passes = Save::input;
  static constexpr Saves save = {0, Save::third, Save::other};
  template <class T> HOST_DEVICE static T forward(T x, T a, T b, T value) {
    return x + value * a * b;
  }
  template <class T> HOST_DEVICE static Grads<T, 3> backward(T g, T a, T b, T value) {
    return {g, g * (value * b), g * (value * a)};
  }
};

struct Addcdiv {
  static constexpr auto refusal =
      "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will "
      "perform a true division of tensor1 and tensor2. The historic addcdiv behavior can be "
      "implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer "
      "inputs and as (input + value * tensor1 / tensor2) for float inputs. The future addcdiv "
      "behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all "
      "dtypes.";
  static constexpr auto signature = "addcdiv(input, tensor1, tensor2, *, value=1)";
  static constexpr auto doc =
      R"(input + value * tensor1 / tensor2

Args:
    tensor1: the numerator.
    tensor2: the denominator.
    value: the factor of the quotient.

>>> torch.addcdiv(torch.ones(2), torch.tensor([1., 2.]), torch.tensor([2., 4.]), value=2)
tensor([2., 2.]))";
  static constexpr auto takes = Takes::floating;
  static constexpr bool tensors_only = true;
  static constexpr unsigned passes = Save::input;
  static constexpr Saves save = {0, Save::third, Save::other | Save::third};
  static constexpr Domain domain = {0.3, 3};
  template <class T> HOST_DEVICE static T forward(T x, T a, T b, T value) {
    return x + value * a / b;
  }
  template <class T> HOST_DEVICE static Grads<T, 3> backward(T g, T a, T b, T value) {
    return {g, g * (value / b), -g * (value * a / (b * b))};
  }
};

struct Gcd {
  static constexpr auto signature = "gcd(input, other)";
  static constexpr auto doc =
      "The greatest common divisor, 0 or more.\n"
      ">>> torch.gcd(torch.tensor([12, 7]), torch.tensor([18, 21]))\n"
      "tensor([6, 7])";
  static constexpr auto takes = Takes::shifts;
  static constexpr unsigned in_place = Visible::function | Visible::method;
  static constexpr bool tensors_only = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return gcd(a, b); }
};

struct Lcm {
  static constexpr auto signature = "lcm(input, other)";
  static constexpr auto doc =
      "The least common multiple, 0 or more.\n"
      ">>> torch.lcm(torch.tensor([4]), torch.tensor([6]))\n"
      "tensor([12])";
  static constexpr auto takes = Takes::shifts;
  static constexpr unsigned in_place = Visible::function | Visible::method;
  static constexpr bool tensors_only = true;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return lcm(a, b); }
};

using ArithmeticOps =
    OpList<Neg, Reciprocal, Square, Cube, Sqrt, Rsqrt, Add, Sub, Rsub, Mul, Div, DivTrunc, DivFloor,
           FloorDivide, Remainder, Fmod, Pow, PowScalar, SqrtPower, RsqrtPower, ReciprocalPower,
           Hypot, Lerp, Addcmul, Addcdiv, Gcd, Lcm>;

}  // namespace rushlight
