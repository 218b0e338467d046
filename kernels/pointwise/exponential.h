// Exponentials, logarithms and the hyperbolic functions.
#pragma once
#include "../math/exponential.h"
#include "declare.h"

namespace rushlight {

struct Exp {
  static constexpr auto signature = "exp(input)";
  static constexpr auto doc =
      "e to the power x.\n"
      ">>> torch.exp(torch.tensor([0.5, 1.]))\n"
      "tensor([1.6487, 2.7183])";
  static constexpr auto autocast = Casts::float32_on_gpu;
  static constexpr Saves save = {Save::output};
  template <class T> HOST_DEVICE static T forward(T x) { return exp(x); }
  template <class T> HOST_DEVICE static T backward(T g, T y) { return g * y; }
};

struct Exp2 {
  static constexpr auto signature = "exp2(input)";
  static constexpr auto doc =
      "2 to the power x.\n"
      ">>> torch.exp2(torch.tensor([0.5, 1.]))\n"
      "tensor([1.4142, 2.0000])";
  static constexpr auto aliases = "special.exp2";
  static constexpr Saves save = {Save::output};
  template <class T> HOST_DEVICE static T forward(T x) { return exp2(x); }
  template <class T> HOST_DEVICE static T backward(T g, T y) {
    return g * y * T(0.693147180559945309417);
  }
};

struct Expm1 {
  static constexpr auto signature = "expm1(input)";
  static constexpr auto doc =
      "exp(x) - 1, exact for small x.\n"
      ">>> torch.expm1(torch.tensor([0.5, 1.]))\n"
      "tensor([0.6487, 1.7183])";
  static constexpr auto autocast = Casts::float32_on_gpu;
  static constexpr auto aliases = "special.expm1";
  static constexpr Saves save = {Save::output};
  template <class T> HOST_DEVICE static T forward(T x) { return expm1(x); }
  template <class T> HOST_DEVICE static T backward(T g, T y) { return g * (y + T(1)); }
};

struct Log {
  static constexpr auto signature = "log(input)";
  static constexpr auto doc =
      "The natural logarithm of x.\n"
      ">>> torch.log(torch.tensor([0.5, 1.]))\n"
      "tensor([-0.6931,  0.0000])";
  static constexpr auto autocast = Casts::float32_on_gpu;
  static constexpr Saves save = {Save::input};
  static constexpr Domain domain = {0.1, 4};
  template <class T> HOST_DEVICE static T forward(T x) { return log(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return g / x; }
};

struct Log2 {
  static constexpr auto signature = "log2(input)";
  static constexpr auto doc =
      "The logarithm of x to base 2.\n"
      ">>> torch.log2(torch.tensor([0.5, 1.]))\n"
      "tensor([-1.,  0.])";
  static constexpr auto autocast = Casts::float32_on_gpu;
  static constexpr Saves save = {Save::input};
  static constexpr Domain domain = {0.1, 4};
  template <class T> HOST_DEVICE static T forward(T x) { return log2(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    return g / (x * T(0.693147180559945309417));
  }
};

struct Log10 {
  static constexpr auto signature = "log10(input)";
  static constexpr auto doc =
      "The logarithm of x to base 10.\n"
      ">>> torch.log10(torch.tensor([0.5, 1.]))\n"
      "tensor([-0.3010,  0.0000])";
  static constexpr auto autocast = Casts::float32_on_gpu;
  static constexpr Saves save = {Save::input};
  static constexpr Domain domain = {0.1, 4};
  template <class T> HOST_DEVICE static T forward(T x) { return log10(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    return g / (x * T(2.30258509299404568402));
  }
};

struct Log1p {
  static constexpr auto signature = "log1p(input)";
  static constexpr auto doc =
      "log(1 + x), exact for small x.\n"
      ">>> torch.log1p(torch.tensor([0.5, 1.]))\n"
      "tensor([0.4055, 0.6931])";
  static constexpr auto node = "Log1PBackward0";
  static constexpr auto autocast = Casts::float32_on_gpu;
  static constexpr auto aliases = "special.log1p";
  static constexpr Saves save = {Save::input};
  static constexpr Domain domain = {-0.9, 4};
  template <class T> HOST_DEVICE static T forward(T x) { return log1p(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return g / (x + T(1)); }
};

struct Sigmoid {
  static constexpr auto signature = "sigmoid(input)";
  static constexpr auto doc =
      "1 / (1 + exp(-x))\n"
      ">>> torch.sigmoid(torch.tensor([0.5, 1.]))\n"
      "tensor([0.6225, 0.7311])";
  static constexpr unsigned visible = Visible::function | Visible::method | Visible::functional;
  static constexpr auto aliases = "special.expit";
  static constexpr Saves save = {Save::output};
  template <class T> HOST_DEVICE static T forward(T x) { return T(1) / (T(1) + exp(-x)); }
  template <class T> HOST_DEVICE static T backward(T g, T y) { return g * y * (T(1) - y); }
};
// Called by other formulas, so that their gradients on tensors use this op's own.
template <Real T>
HOST_DEVICE T sigmoid(T x) {
  return Sigmoid::forward(x);
}

struct Sinh {
  static constexpr auto signature = "sinh(input)";
  static constexpr auto doc =
      "The hyperbolic sine of x.\n"
      ">>> torch.sinh(torch.tensor([0.5, 1.]))\n"
      "tensor([0.5211, 1.1752])";
  static constexpr auto autocast = Casts::float32_on_gpu;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) { return sinh(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return g * cosh(x); }
};

struct Cosh {
  static constexpr auto signature = "cosh(input)";
  static constexpr auto doc =
      "The hyperbolic cosine of x.\n"
      ">>> torch.cosh(torch.tensor([0.5, 1.]))\n"
      "tensor([1.1276, 1.5431])";
  static constexpr auto autocast = Casts::float32_on_gpu;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) { return cosh(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return g * sinh(x); }
};

struct Tanh {
  static constexpr auto signature = "tanh(input)";
  static constexpr auto doc =
      "The hyperbolic tangent of x.\n"
      ">>> torch.tanh(torch.tensor([0.5, 1.]))\n"
      "tensor([0.4621, 0.7616])";
  static constexpr unsigned visible = Visible::function | Visible::method | Visible::functional;
  static constexpr Saves save = {Save::output};
  template <class T> HOST_DEVICE static T forward(T x) { return tanh(x); }
  template <class T> HOST_DEVICE static T backward(T g, T y) { return g * (T(1) - y * y); }
};

struct Asinh {
  static constexpr auto signature = "asinh(input)";
  static constexpr auto doc =
      "The inverse of sinh.\n"
      ">>> torch.asinh(torch.tensor([0.5, 1.]))\n"
      "tensor([0.4812, 0.8814])";
  static constexpr auto aliases = "arcsinh";
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) { return asinh(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return g / sqrt(x * x + T(1)); }
};

struct Acosh {
  static constexpr auto signature = "acosh(input)";
  static constexpr auto doc =
      "The inverse of cosh.\n"
      ">>> torch.acosh(torch.tensor([1., 2.]))\n"
      "tensor([0.0000, 1.3170])";
  static constexpr auto aliases = "arccosh";
  static constexpr Saves save = {Save::input};
  static constexpr Domain domain = {1.1, 4};
  template <class T> HOST_DEVICE static T forward(T x) { return acosh(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    const T size = abs(x);  // torch's below -1, where acosh is NaN
    return g / (sqrt(size - T(1)) * sqrt(size + T(1)));
  }
};

struct Atanh {
  static constexpr auto signature = "atanh(input)";
  static constexpr auto doc =
      "The inverse of tanh.\n"
      ">>> torch.atanh(torch.tensor([0.5, 1.]))\n"
      "tensor([0.5493,    inf])";
  static constexpr auto aliases = "arctanh";
  static constexpr Saves save = {Save::input};
  static constexpr Domain domain = {-0.9, 0.9};
  template <class T> HOST_DEVICE static T forward(T x) { return atanh(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return g / (T(1) - x * x); }
};

struct Logit {
  static constexpr auto signature = "logit(input, eps=-1.0)";
  static constexpr auto doc =
      "log(z / (1 - z)), where z is x kept within [eps, 1 - eps] unless eps is negative.";
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr Saves save = {Save::input};
  static constexpr Domain domain = {0.1, 0.9};
  template <class T> HOST_DEVICE static T forward(T x, T eps) {
    const T low = where(x < eps, eps, x);
    const T z = where(eps < T(0), x, where(low > T(1) - eps, T(1) - eps, low));
    return log(z / (T(1) - z));
  }
  template <class T> HOST_DEVICE static T backward(T g, T x, T eps) {
    const T inside = where((x < T(0)) | (x > T(1)), T(kNaN<double>), g / (x * (T(1) - x)));
    const T bounded = where((x < eps) | (x > T(1) - eps), T(0), inside);
    return where(eps < T(0), inside, bounded);
  }
};

struct Xlogy {
  static constexpr auto signature = "xlogy(input, other)";
  static constexpr auto doc =
      R"(input * log(other), and 0 where input is 0.

Args:
    input: the factor, a tensor or a scalar.
    other: the argument of the logarithm, a tensor or a scalar.

>>> torch.xlogy(torch.tensor([0., 2.]), torch.tensor([0., 3.]))
tensor([0.0000, 2.1972]))";
  static constexpr bool scalar_first = true;
  static constexpr auto aliases = "special.xlogy";
  static constexpr unsigned in_place = Visible::function | Visible::method;
  static constexpr Saves save = {Save::input | Save::other, Save::input | Save::other};
  static constexpr Domain domain = {0.3, 3};
  template <class T> HOST_DEVICE static T forward(T a, T b) {
    const T y = where(a == T(0), T(0), a * log(where(a == T(0), T(1), b)));
    return where(b == b, y, b);
  }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b) {
    const Bool<T> edge = (a == T(0)) & (b <= T(0));
    return {where(edge, T(0), g * log(where(edge, T(1), b))), g * (a / b)};
  }
};

struct Xlog1py {
  static constexpr auto signature = "special_xlog1py(input, other)";
  static constexpr auto doc =
      R"(input * log1p(other), and 0 where input is 0.

Args:
    input: the factor, a tensor or a scalar.
    other: the argument of the logarithm, a tensor or a scalar.

>>> torch.special.xlog1py(torch.tensor([0., 1.]), torch.tensor([-1., 1.]))
tensor([0.0000, 0.6931]))";
  static constexpr auto node = "SpecialXlog1PyBackward0";
  static constexpr unsigned visible = Visible::special;
  static constexpr bool scalar_first = true;
  static constexpr Saves save = {Save::input | Save::other, Save::input | Save::other};
  static constexpr Domain domain = {0.3, 3};
  template <class T> HOST_DEVICE static T forward(T a, T b) {
    const T y = where(a == T(0), T(0), a * log1p(where(a == T(0), T(0), b)));
    return where(b == b, y, b);
  }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b) {
    const Bool<T> edge = (a == T(0)) & (b <= T(-1));
    return {where(edge, T(0), g * log1p(where(edge, T(0), b))), g * (a / (b + T(1)))};
  }
};

struct Entr {
  static constexpr auto signature = "special_entr(input)";
  static constexpr auto doc =
      "-x * log(x), 0 at 0 and -inf below.\n"
      ">>> torch.special.entr(torch.tensor([0., 0.5]))\n"
      "tensor([0.0000, 0.3466])";
  static constexpr unsigned visible = Visible::special;
  static constexpr Saves save = {Save::input};
  static constexpr Domain domain = {0.1, 4};
  template <class T> HOST_DEVICE static T forward(T x) {
    const T inside = -x * log(where(x > T(0), x, T(1)));
    const T low = where(x < T(0), -kInfinity<T>, where(x > T(0), inside, T(0)));
    return where(x == x, low, x);
  }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return g * (-log(x) - T(1)); }
};

struct Logaddexp {
  static constexpr auto signature = "logaddexp(input, other)";
  static constexpr auto doc =
      "log(exp(input) + exp(other)), without overflow.\n"
      ">>> torch.logaddexp(torch.tensor([1.]), torch.tensor([2.]))\n"
      "tensor([2.3133])";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr bool tensors_only = true;
  static constexpr Saves save = {Save::input | Save::other, Save::input | Save::other};
  template <class T> HOST_DEVICE static T forward(T a, T b) {
    const T distance = where(a == b, T(0), a - b);  // inf - inf would be NaN
    return where(a < b, b, a) + log1p(exp(-abs(distance)));
  }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b) {
    const T distance = where(a == b, T(0), a - b);
    return {g * sigmoid(distance), g * sigmoid(-distance)};
  }
};

struct Logaddexp2 {
  static constexpr auto signature = "logaddexp2(input, other)";
  static constexpr auto doc =
      "log2(2^input + 2^other), without overflow.\n"
      ">>> torch.logaddexp2(torch.tensor([1.]), torch.tensor([2.]))\n"
      "tensor([2.5850])";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr bool tensors_only = true;
  static constexpr Saves save = {Save::input | Save::other, Save::input | Save::other};
  template <class T> HOST_DEVICE static T forward(T a, T b) {
    const T distance = where(a == b, T(0), a - b);
    return where(a < b, b, a) + log1p(exp2(-abs(distance))) * T(1.44269504088896340736);
  }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b) {
    const T distance = where(a == b, T(0), a - b) * T(0.693147180559945309417);
    return {g * sigmoid(distance), g * sigmoid(-distance)};
  }
};

using ExponentialOps =
    OpList<Exp, Exp2, Expm1, Log, Log2, Log10, Log1p, Sigmoid, Sinh, Cosh, Tanh, Asinh, Acosh,
           Atanh, Logit, Xlogy, Xlog1py, Entr, Logaddexp, Logaddexp2>;

}  // namespace rushlight
