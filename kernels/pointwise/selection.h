// Ops that choose, bound or round: piecewise simple, with gradients of zeros and ones.
#pragma once
#include "declare.h"

namespace rushlight {

struct Abs {
  static constexpr auto signature = "abs(input)";
  static constexpr auto doc =
      "The absolute value of x; the gradient at 0 is 0.\n"
      ">>> torch.abs(torch.tensor([1., -2.]))\n"
      "tensor([1., 2.])";
  static constexpr auto takes = Takes::numeric;
  static constexpr auto aliases = "absolute";
  static constexpr Saves save = {Save::input};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x) { return abs(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    return where(x > T(0), g, where(x < T(0), -g, g * T(0)));
  }
};

struct Sign {
  static constexpr auto signature = "sign(input)";
  static constexpr auto doc =
      "-1, 0 or 1.\n"
      ">>> torch.sign(torch.tensor([0.5, -2., 0.]))\n"
      "tensor([ 1., -1.,  0.])";
  static constexpr auto takes = Takes::anything;
  static constexpr unsigned in_place = Visible::method;
  static constexpr Saves save = {};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x) {
    return where(x > T(0), T(1), where(x < T(0), T(-1), T(0)));
  }
  template <class T> HOST_DEVICE static T backward(T) { return T(0); }
};

struct Sgn {
  using Formula = Sign;
  static constexpr auto signature = "sgn(input)";
  static constexpr auto doc =
      "sign(), of real numbers.\n"
      ">>> torch.sgn(torch.tensor([0.5, -2., 0.]))\n"
      "tensor([ 1., -1.,  0.])";
  static constexpr auto takes = Takes::anything;
  static constexpr unsigned in_place = Visible::method;
  static constexpr Saves save = {};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x) { return Sign::forward(x); }
  template <class T> HOST_DEVICE static T backward(T) { return T(0); }
};

struct Floor {
  static constexpr auto signature = "floor(input)";
  static constexpr auto doc =
      "The largest integer that is not above x.\n"
      ">>> torch.floor(torch.tensor([1.5, -1.5]))\n"
      "tensor([ 1., -2.])";
  static constexpr auto takes = Takes::numeric;
  static constexpr auto kernel = "floor_vml_cpu";
  static constexpr Saves save = {};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x) { return floor(x); }
  template <class T> HOST_DEVICE static T backward(T) { return T(0); }
};

struct Ceil {
  static constexpr auto signature = "ceil(input)";
  static constexpr auto doc =
      "The smallest integer that is not below x.\n"
      ">>> torch.ceil(torch.tensor([1.5, -1.5]))\n"
      "tensor([ 2., -1.])";
  static constexpr auto takes = Takes::numeric;
  static constexpr auto kernel = "ceil_vml_cpu";
  static constexpr Saves save = {};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x) { return ceil(x); }
  template <class T> HOST_DEVICE static T backward(T) { return T(0); }
};

struct Trunc {
  static constexpr auto signature = "trunc(input)";
  static constexpr auto doc =
      "x without its fraction.\n"
      ">>> torch.trunc(torch.tensor([1.5, -1.5]))\n"
      "tensor([ 1., -1.])";
  static constexpr auto takes = Takes::numeric;
  static constexpr auto kernel = "trunc_vml_cpu";
  static constexpr auto aliases = "fix";
  static constexpr Saves save = {};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x) { return trunc(x); }
  template <class T> HOST_DEVICE static T backward(T) { return T(0); }
};

struct Frac {
  static constexpr auto signature = "frac(input)";
  static constexpr auto doc =
      "x - trunc(x)\n"
      ">>> torch.frac(torch.tensor([1.5, -1.5]))\n"
      "tensor([ 0.5000, -0.5000])";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned passes = Save::input;
  static constexpr Saves save = {};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x) { return x - trunc(x); }
  template <class T> HOST_DEVICE static T backward(T g) { return g; }
};

struct Round {
  static constexpr auto signature = "round(input)";
  static constexpr auto doc = "The nearest integer; halves go to the even one.";
  static constexpr auto takes = Takes::numeric;
  static constexpr auto kernel = "round_vml_cpu";
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr Saves save = {};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x) { return round(x); }
  template <class T> HOST_DEVICE static T backward(T) { return T(0); }
};

struct RoundDecimals {  // scale is 10^|decimals|; divide says that decimals is negative
  static constexpr auto signature = "round_decimals(input, scale=1.0, divide=0.0)";
  static constexpr auto doc = "x rounded to a number of decimals.";
  static constexpr auto takes = Takes::floating;
  static constexpr auto node = "RoundBackward1";
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr Saves save = {};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x, T scale, T divide) {
    return where(divide != T(0), round(x / scale) * scale, round(x * scale) / scale);
  }
  template <class T> HOST_DEVICE static T backward(T, T, T) { return T(0); }
};

struct Maximum {
  static constexpr auto signature = "maximum(input, other)";
  static constexpr auto doc =
      "The larger of the two, or NaN if one is; a tie gives half the gradient to each.\n"
      ">>> torch.maximum(torch.tensor([1., 5.]), torch.tensor([3., 2.]))\n"
      "tensor([3., 5.])";
  static constexpr auto takes = Takes::anything;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr bool tensors_only = true;
  static constexpr Saves save = {Save::input | Save::other, Save::input | Save::other};
  template <class T> HOST_DEVICE static T forward(T a, T b) {
    return where(b == b, where(a < b, b, a), b);  // one instruction, and one for a NaN
  }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b) {
    const T half = where(a == b, g * T(0.5), g);
    return {where(a < b, T(0), half), where(a > b, T(0), half)};
  }
};

struct Minimum {
  static constexpr auto signature = "minimum(input, other)";
  static constexpr auto doc =
      "The smaller of the two, or NaN if one is; a tie gives half the gradient to each.\n"
      ">>> torch.minimum(torch.tensor([1., 5.]), torch.tensor([3., 2.]))\n"
      "tensor([1., 2.])";
  static constexpr auto takes = Takes::anything;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr bool tensors_only = true;
  static constexpr Saves save = {Save::input | Save::other, Save::input | Save::other};
  template <class T> HOST_DEVICE static T forward(T a, T b) {
    return where(b == b, where(b < a, b, a), b);
  }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b) {
    const T half = where(a == b, g * T(0.5), g);
    return {where(a > b, T(0), half), where(a < b, T(0), half)};
  }
};

struct Fmax {
  static constexpr auto signature = "fmax(input, other)";
  static constexpr auto doc =
      "The larger of the two; a NaN gives way to a number.\n"
      ">>> torch.fmax(torch.tensor([1., float('nan')]), torch.tensor([3., 2.]))\n"
      "tensor([3., 2.])";
  static constexpr auto takes = Takes::anything;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr bool tensors_only = true;
  static constexpr Saves save = {Save::input | Save::other, Save::input | Save::other};
  template <class T> HOST_DEVICE static T forward(T a, T b) {
    return where(a >= b, a, where(b == b, b, a));
  }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b) {
    const Bool<T> first = (a >= b) | (b != b);
    return {where(first, g, T(0)), where(first, T(0), g)};
  }
};

struct Fmin {
  static constexpr auto signature = "fmin(input, other)";
  static constexpr auto doc =
      "The smaller of the two; a NaN gives way to a number.\n"
      ">>> torch.fmin(torch.tensor([1., float('nan')]), torch.tensor([3., 2.]))\n"
      "tensor([1., 2.])";
  static constexpr auto takes = Takes::anything;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr bool tensors_only = true;
  static constexpr Saves save = {Save::input | Save::other, Save::input | Save::other};
  template <class T> HOST_DEVICE static T forward(T a, T b) {
    return where(a <= b, a, where(b == b, b, a));
  }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b) {
    const Bool<T> first = (a <= b) | (b != b);
    return {where(first, g, T(0)), where(first, T(0), g)};
  }
};

struct Clamp {
  static constexpr auto signature = "clamp(input, min, max)";
  static constexpr auto doc = "min(max(input, min), max)";
  static constexpr auto takes = Takes::numeric;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr bool fits = true;
  static constexpr Saves save = {Save::input | Save::other | Save::third,
                                 Save::input | Save::other | Save::third,
                                 Save::input | Save::other | Save::third};
  template <class T> HOST_DEVICE static T forward(T x, T low, T high) {
    const T above = where(low > x, low, x), both = where(high < above, high, above);
    return both - where(low == low, where(high == high, T(0), high), low);  // NaN, if a bound is
  }
  template <class T> HOST_DEVICE static Grads<T, 3> backward(T g, T x, T low, T high) {
    return {where((x >= low) & (x <= high), g, T(0)), where((low < high) & (x < low), g, T(0)),
            where((x > high) | (high < low), g, T(0))};
  }
};

struct ClampMin {
  static constexpr auto signature = "clamp_min(input, min)";
  static constexpr auto doc =
      R"(The larger of input and min.

Args:
    min: the lower bound, a tensor or a scalar.

>>> torch.clamp_min(torch.tensor([-1., 2.]), 0)
tensor([0., 2.]))";
  static constexpr auto takes = Takes::anything;
  static constexpr unsigned in_place = Visible::function | Visible::method;
  static constexpr bool fits = true;
  static constexpr Saves save = {Save::input | Save::other, Save::input | Save::other};
  template <class T> HOST_DEVICE static T forward(T x, T low) { return Maximum::forward(x, low); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T x, T low) {
    return {where(x >= low, g, T(0)), where(x < low, g, T(0))};
  }
};

struct ClampMax {
  static constexpr auto signature = "clamp_max(input, max)";
  static constexpr auto doc =
      R"(The smaller of input and max.

Args:
    max: the upper bound, a tensor or a scalar.

>>> torch.clamp_max(torch.tensor([-1., 2.]), 0)
tensor([-1.,  0.]))";
  static constexpr auto takes = Takes::anything;
  static constexpr unsigned in_place = Visible::function | Visible::method;
  static constexpr bool fits = true;
  static constexpr Saves save = {Save::input | Save::other, Save::input | Save::other};
  template <class T> HOST_DEVICE static T forward(T x, T high) { return Minimum::forward(x, high); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T x, T high) {
    return {where(x <= high, g, T(0)), where(x > high, g, T(0))};
  }
};

// clamp() with numbers, and with one bound: the same formulas under torch's names.
struct ClampScalars : Clamp {
  using Formula = Clamp;
  static constexpr auto signature = "clamp_numbers(input, min, max)";
  static constexpr auto node = "ClampBackward1";
};
struct ClampMinOnly : ClampMin {
  using Formula = ClampMin;
  static constexpr auto signature = "clamp_from(input, min)";
  static constexpr auto node = "ClampBackward0";
  static constexpr unsigned visible = Visible::nowhere;
};
struct ClampMinScalar : ClampMin {
  using Formula = ClampMin;
  static constexpr auto signature = "clamp_from_number(input, min)";
  static constexpr auto node = "ClampBackward1";
  static constexpr unsigned visible = Visible::nowhere;
};
struct ClampMaxOnly : ClampMax {
  using Formula = ClampMax;
  static constexpr auto signature = "clamp_to(input, max)";
  static constexpr auto node = "ClampBackward0";
  static constexpr unsigned visible = Visible::nowhere;
};
struct ClampMaxScalar : ClampMax {
  using Formula = ClampMax;
  static constexpr auto signature = "clamp_to_number(input, max)";
  static constexpr auto node = "ClampBackward1";
  static constexpr unsigned visible = Visible::nowhere;
};

struct NanToNum {
  static constexpr auto signature = "nan_to_num(input, nan=0.0, posinf=0.0, neginf=0.0)";
  static constexpr auto doc = "NaN, infinity and -infinity replaced by numbers.";
  static constexpr auto takes = Takes::anything;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr Saves save = {Save::input};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x, T nan, T high, T low) {
    const T infinite = where(x > T(0), high, low);
    return where(x - x == T(0), x, where(x == x, infinite, nan));
  }
  template <class T> HOST_DEVICE static T backward(T g, T x, T, T, T) {
    return where(x - x == T(0), g, T(0));
  }
};

struct Heaviside {
  static constexpr auto signature = "heaviside(input, values)";
  static constexpr auto doc =
      R"(0 where input < 0, 1 where input > 0, else values.

Args:
    values: the result where input is 0.

>>> torch.heaviside(torch.tensor([-1., 0., 2.]), torch.tensor([0.5]))
tensor([0.0000, 0.5000, 1.0000]))";
  static constexpr auto takes = Takes::anything;
  static constexpr bool tensors_only = true;
  static constexpr auto node = "NotImplemented";
  static constexpr Saves save = {};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x, T v) {
    return where(x == T(0), v, where(x > T(0), T(1), T(0)));
  }
};

struct Copysign {
  static constexpr auto signature = "copysign(input, other)";
  static constexpr auto doc =
      R"(The size of input with the sign of other.

Args:
    other: the tensor or scalar whose sign is taken.

>>> torch.copysign(torch.tensor([1., 2.]), torch.tensor([-0., 3.]))
tensor([-1.,  2.]))";
  static constexpr Saves save = {Save::input | Save::output, 0};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return copysign(a, b); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T y) {
    return {where(a == T(0), T(0), g * (y / a)), T(0)};
  }
};

struct Nextafter {
  static constexpr auto signature = "nextafter(input, other)";
  static constexpr auto doc = "The next number that the dtype can hold from input towards other.";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr Saves save = {Save::input | Save::other, 0};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return nextafter(a, b); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b) {
    return {where(a == b, T(0), g), T(0)};
  }
};
struct NextafterReduced : Nextafter {  // of 16-bit floats, which are computed in float
  static constexpr auto signature = "nextafter_reduced(input, other, is_bfloat16=0.0)";
  static constexpr auto node = "NextafterBackward0";
  template <class T> HOST_DEVICE static T forward(T a, T b, T is_bfloat16) {
    return static_cast<T>(next_reduced(double(a), double(b), is_bfloat16 != T(0)));
  }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b, T) {
    return Nextafter::backward(g, a, b);
  }
};

struct Where {
  static constexpr auto signature = "where(condition, input, other)";
  static constexpr auto doc = "input where the condition holds, else other.";
  static constexpr auto takes = Takes::anything;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr bool fits = true;
  static constexpr Saves save = {Save::input, Save::input};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(Bool<T> c, T a, T b) { return where(c, a, b); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, Bool<T> c) {
    return {where(c, g, T(0)), where(c, T(0), g)};
  }
};

struct MaskedFill {
  static constexpr auto signature = "masked_fill(input, mask, value)";
  static constexpr auto doc =
      "value where the mask holds, else input.\n"
      ">>> torch.tensor([1., 2.]).masked_fill(torch.tensor([True, False]), -1)\n"
      "tensor([-1.,  2.])";
  static constexpr auto takes = Takes::anything;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr Saves save = {Save::other, Save::other};
  template <class T> HOST_DEVICE static T forward(T x, Bool<T> mask, T value) {
    return where(mask, value, x);
  }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, Bool<T> mask) {
    return {where(mask, T(0), g), where(mask, g, T(0))};
  }
};

struct MaskedScale {
  static constexpr auto signature = "masked_scale(input, mask, scale=1.0)";
  static constexpr auto doc = "scale * input where the mask holds, else 0: what dropout does.";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr Saves save = {Save::other};
  template <class T> HOST_DEVICE static T forward(T x, Bool<T> mask, T scale) {
    return where(mask, x * scale, T(0));
  }
  template <class T> HOST_DEVICE static T backward(T g, Bool<T> mask, T scale) {
    return where(mask, g * scale, T(0));
  }
};

using SelectionOps =
    OpList<Abs, Sign, Sgn, Floor, Ceil, Trunc, Frac, Round, RoundDecimals, Maximum, Minimum, Fmax,
           Fmin, Clamp, ClampMin, ClampMax, ClampScalars, ClampMinOnly, ClampMinScalar,
           ClampMaxOnly, ClampMaxScalar, NanToNum, Heaviside, Copysign, Nextafter, NextafterReduced,
           Where, MaskedFill, MaskedScale>;

}  // namespace rushlight
