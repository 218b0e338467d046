// Circular functions and their inverses, erf and the gamma functions.
#pragma once
#include "../math/special.h"
#include "declare.h"

namespace rushlight {

struct Sin {
  static constexpr auto signature = "sin(input)";
  static constexpr auto doc =
      "The sine of x, in radians.\n"
      ">>> torch.sin(torch.tensor([0.5, 1.]))\n"
      "tensor([0.4794, 0.8415])";
  static constexpr bool angle = true;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) { return sin(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return g * cos(x); }
};

struct Cos {
  static constexpr auto signature = "cos(input)";
  static constexpr auto doc =
      "The cosine of x, in radians.\n"
      ">>> torch.cos(torch.tensor([0.5, 1.]))\n"
      "tensor([0.8776, 0.5403])";
  static constexpr bool angle = true;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) { return cos(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return -g * sin(x); }
};

struct Tan {
  static constexpr auto signature = "tan(input)";
  static constexpr auto doc =
      "The tangent of x, in radians.\n"
      ">>> torch.tan(torch.tensor([0.5, 1.]))\n"
      "tensor([0.5463, 1.5574])";
  static constexpr bool angle = true;
  static constexpr auto autocast = Casts::float32_on_gpu;
  static constexpr Saves save = {Save::output};
  static constexpr Domain domain = {-1, 1};
  template <class T> HOST_DEVICE static T forward(T x) { return tan(x); }
  template <class T> HOST_DEVICE static T backward(T g, T y) { return g * (T(1) + y * y); }
};

struct Asin {
  static constexpr auto signature = "asin(input)";
  static constexpr auto doc =
      "The inverse of sin, from -pi / 2 to pi / 2.\n"
      ">>> torch.asin(torch.tensor([0.5, 1.]))\n"
      "tensor([0.5236, 1.5708])";
  static constexpr auto autocast = Casts::float32_on_gpu;
  static constexpr auto aliases = "arcsin";
  static constexpr Saves save = {Save::input};
  static constexpr Domain domain = {-0.9, 0.9};
  template <class T> HOST_DEVICE static T forward(T x) { return asin(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return g / sqrt(T(1) - x * x); }
};

struct Acos {
  static constexpr auto signature = "acos(input)";
  static constexpr auto doc =
      "The inverse of cos, from 0 to pi.\n"
      ">>> torch.acos(torch.tensor([0.5, 1.]))\n"
      "tensor([1.0472, 0.0000])";
  static constexpr auto autocast = Casts::float32_on_gpu;
  static constexpr auto aliases = "arccos";
  static constexpr Saves save = {Save::input};
  static constexpr Domain domain = {-0.9, 0.9};
  template <class T> HOST_DEVICE static T forward(T x) { return acos(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return -g / sqrt(T(1) - x * x); }
};

struct Atan {
  static constexpr auto signature = "atan(input)";
  static constexpr auto doc =
      "The inverse of tan, from -pi / 2 to pi / 2.\n"
      ">>> torch.atan(torch.tensor([0.5, 1.]))\n"
      "tensor([0.4636, 0.7854])";
  static constexpr auto aliases = "arctan";
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) { return atan(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return g / (x * x + T(1)); }
};

struct Atan2 {
  static constexpr auto signature = "atan2(input, other)";
  static constexpr auto doc =
      R"(The angle of the point (other, input), from -pi to pi.

Args:
    input: the y coordinates.
    other: the x coordinates.

>>> torch.atan2(torch.tensor([1.]), torch.tensor([-1.]))
tensor([2.3562]))";
  static constexpr bool tensors_only = true;
  static constexpr auto aliases = "arctan2";
  static constexpr Saves save = {Save::input | Save::other, Save::input | Save::other};
  static constexpr Domain domain = {0.3, 3};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return atan2(a, b); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b) {
    const T square = a * a + b * b;
    const T safe = where(square == T(0), T(1), square);  // at the origin both are 0
    return {g * (b / safe), -g * (a / safe)};
  }
};

struct Angle {
  static constexpr auto signature = "angle(input)";
  static constexpr auto doc =
      "The angle of a real number as a complex one: pi below 0, else 0.\n"
      ">>> torch.angle(torch.tensor([1., -1.]))\n"
      "tensor([0.0000, 3.1416])";
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x) {
    return where(x == x, where(x < T(0), kPi<T>, T(0)), x);
  }
  template <class T> HOST_DEVICE static T backward(T) { return T(0); }
};

struct Deg2rad {
  static constexpr auto signature = "deg2rad(input)";
  static constexpr auto doc =
      "Degrees as radians.\n"
      ">>> torch.deg2rad(torch.tensor([90., 180.]))\n"
      "tensor([1.5708, 3.1416])";
  static constexpr auto node = "Deg2RadBackward0";
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x) { return x * T(0.0174532925199432957692); }
  template <class T> HOST_DEVICE static T backward(T g) { return g * T(0.0174532925199432957692); }
};

struct Rad2deg {
  static constexpr auto signature = "rad2deg(input)";
  static constexpr auto doc =
      "Radians as degrees.\n"
      ">>> torch.rad2deg(torch.tensor([1.5707964, 3.1415927]))\n"
      "tensor([ 90., 180.])";
  static constexpr auto node = "Rad2DegBackward0";
  static constexpr Saves save = {};
  template <class T> HOST_DEVICE static T forward(T x) { return x * T(57.2957795130823208768); }
  template <class T> HOST_DEVICE static T backward(T g) { return g * T(57.2957795130823208768); }
};

struct Erf {
  static constexpr auto signature = "erf(input)";
  static constexpr auto doc =
      "The error function, 2 / sqrt(pi) * the integral of exp(-t^2) from 0 to x.\n"
      ">>> torch.erf(torch.tensor([0.5, 1.]))\n"
      "tensor([0.5205, 0.8427])";
  static constexpr auto aliases = "special.erf";
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) { return erf(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    return g * (T(1.12837916709551257390) * exp(-(x * x)));
  }
};

using TrigonometricOps =
    OpList<Sin, Cos, Tan, Asin, Acos, Atan, Atan2, Angle, Deg2rad, Rad2deg, Erf>;

}  // namespace rushlight
