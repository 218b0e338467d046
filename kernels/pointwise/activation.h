// Activations of torch.nn.functional, and those that are in torch itself.
#pragma once
#include "../math/special.h"
#include "exponential.h"

namespace rushlight {

template <Real T>
HOST_DEVICE T softplus(T x) {
  return positive_part(x) + log1p(exp(-abs(x)));
}

struct Relu {
  static constexpr auto signature = "relu(input)";
  static constexpr auto doc =
      "max(x, 0); the gradient at 0 is 0.\n"
      ">>> torch.relu(torch.tensor([-1., 0.5, 4.]))\n"
      "tensor([0.0000, 0.5000, 4.0000])";
  static constexpr auto takes = Takes::numeric;
  static constexpr auto refusal = "Boolean inputs not supported for relu";
  static constexpr Saves save = {Save::output};
  template <class T> HOST_DEVICE static T forward(T x) { return where(x < T(0), T(0), x); }
  template <class T> HOST_DEVICE static T backward(T g, T y) { return where(y <= T(0), T(0), g); }
};

struct Hardtanh {
  static constexpr auto signature = "hardtanh(input, min_val=-1.0, max_val=1.0)";
  static constexpr auto doc =
      R"(x kept within [min_val, max_val].

Args:
    min_val: the lower bound.
    max_val: the upper bound.

>>> torch.nn.functional.hardtanh(torch.tensor([-1., 0.5, 4.]))
tensor([-1.0000,  0.5000,  1.0000]))";
  static constexpr auto takes = Takes::numeric;
  static constexpr unsigned visible = Visible::functional;
  static constexpr auto refusal = "Bool inputs not supported for hardtanh";
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x, T min_val, T max_val) {
    const T low = where(x < min_val, min_val, x);
    return where(low > max_val, max_val, low);
  }
  template <class T> HOST_DEVICE static T backward(T g, T x, T min_val, T max_val) {
    return where((x <= min_val) | (x >= max_val), T(0), g);
  }
};

struct LeakyRelu {
  static constexpr auto signature = "leaky_relu(input, negative_slope=0.01)";
  static constexpr auto doc =
      R"(x where x > 0, else negative_slope * x.

Args:
    negative_slope: the slope below 0.

>>> torch.nn.functional.leaky_relu(torch.tensor([-1., 0.5, 4.]))
tensor([-0.0100,  0.5000,  4.0000]))";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::functional;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x, T negative_slope) {
    return where(x > T(0), x, x * negative_slope);
  }
  template <class T> HOST_DEVICE static T backward(T g, T x, T negative_slope) {
    return where(x > T(0), g, g * negative_slope);
  }
};

struct Elu {
  static constexpr auto signature = "elu(input, alpha=1.0)";
  static constexpr auto doc =
      R"(x where x > 0, else alpha * (exp(x) - 1).

Args:
    alpha: the negative of the limit for x towards -inf.

>>> torch.nn.functional.elu(torch.tensor([-1., 0.5, 4.]))
tensor([-0.6321,  0.5000,  4.0000]))";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::functional;
  static constexpr bool is_ramp = true;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x, T alpha) {
    return where(x > T(0), x, alpha * expm1(where(x > T(0), T(0), x)));
  }
  template <class T> HOST_DEVICE static T backward(T g, T x, T alpha) {
    // exp(min(x, 0)): both sides of where() are evaluated, and inf * 0 would be NaN
    return where(x <= T(0), g * alpha * exp(where(x <= T(0), x, T(0))), g);
  }
};

struct Selu {
  static constexpr auto signature = "selu(input)";
  static constexpr auto doc =
      "scale * elu(x, alpha), with the constants that keep mean 0 and variance 1 "
      "(https://arxiv.org/abs/1706.02515).\n"
      ">>> torch.selu(torch.tensor([-1., 0.5, 4.]))\n"
      "tensor([-1.1113,  0.5254,  4.2028])";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::function | Visible::functional;
  static constexpr unsigned in_place = visible;
  static constexpr auto kernel = "elu_cpu";
  static constexpr auto node = "EluBackward0";
  static constexpr bool is_ramp = true;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) {
    const T scale = T(1.0507009873554804934), alpha = T(1.6732632423543772848);
    return scale * where(x > T(0), x, alpha * expm1(where(x > T(0), T(0), x)));
  }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    const T scale = T(1.0507009873554804934), alpha = T(1.6732632423543772848);
    return where(x <= T(0), g * (scale * alpha) * exp(where(x <= T(0), x, T(0))), g * scale);
  }
};

struct Celu {
  static constexpr auto signature = "celu(input, alpha=1.0)";
  static constexpr auto doc =
      R"(x where x > 0, else alpha * (exp(x / alpha) - 1).

Args:
    alpha: the negative of the limit for x towards -inf.

>>> torch.celu(torch.tensor([-1., 0.5, 4.]))
tensor([-0.6321,  0.5000,  4.0000]))";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::function | Visible::functional;
  static constexpr unsigned in_place = visible;
  static constexpr auto kernel = "elu_cpu";
  static constexpr bool is_ramp = true;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x, T alpha) {
    return where(x > T(0), x, alpha * expm1(where(x > T(0), T(0), x) / alpha));
  }
  template <class T> HOST_DEVICE static T backward(T g, T x, T alpha) {
    return where(x <= T(0), g * exp(where(x <= T(0), x, T(0)) / alpha), g);
  }
};

struct Gelu {
  static constexpr auto signature = "gelu_erf(input)";
  static constexpr auto doc = "x * Phi(x), where Phi is the normal distribution function.";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr auto kernel = "GeluKernelImpl";
  static constexpr auto node = "GeluBackward0";
  static constexpr Saves save = {Save::input};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x) { return x * normal_cdf(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    const T density = T(0.398942280401432677940) * exp(T(-0.5) * x * x);
    return g * (normal_cdf(x) + x * density);
  }
};

struct GeluTanh {
  static constexpr auto signature = "gelu_tanh(input)";
  static constexpr auto doc = "x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr auto kernel = "GeluKernelImpl";
  static constexpr auto node = "GeluBackward0";
  static constexpr Saves save = {Save::input};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x) {
    return T(0.5) * x * (T(1) + tanh(T(0.797884560802865355880) * (x + T(0.044715) * x * x * x)));
  }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    const T square = x * x, k = T(0.797884560802865355880);
    const T t = tanh(k * (x + T(0.044715) * x * square));
    const T slope = k * (T(1) + T(3 * 0.044715) * square);
    return g * (T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * slope);
  }
};

struct Silu {
  static constexpr auto signature = "silu(input)";
  static constexpr auto doc =
      "x * sigmoid(x)\n"
      ">>> torch.nn.functional.silu(torch.tensor([-1., 0.5, 4.]))\n"
      "tensor([-0.2689,  0.3112,  3.9281])";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::functional;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) { return x * sigmoid(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    const T s = sigmoid(x);
    return g * (s * (T(1) + x * (T(1) - s)));
  }
};

struct Mish {
  static constexpr auto signature = "mish(input)";
  static constexpr auto doc =
      "x * tanh(softplus(x)) (https://arxiv.org/abs/1908.08681).\n"
      ">>> torch.nn.functional.mish(torch.tensor([-1., 0.5, 4.]))\n"
      "tensor([-0.3034,  0.3752,  3.9974])";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::functional;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) {
    return x * tanh(positive_part(x) + log1p(exp(-abs(x))));
  }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    const T t = tanh(softplus(x)), s = sigmoid(x);
    return g * (t + x * s * (T(1) - t * t));
  }
};

struct Softplus {
  static constexpr auto signature = "softplus(input, beta=1.0, threshold=20.0)";
  static constexpr auto doc =
      R"(log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.

Args:
    beta: the steepness of the curve.
    threshold: where beta * x exceeds it, the result is x.

>>> torch.nn.functional.softplus(torch.tensor([-1., 0.5, 4.]))
tensor([0.3133, 0.9741, 4.0181]))";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::functional;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr auto autocast = Casts::float32_on_gpu;
  static constexpr Saves save = {Save::input};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x, T beta, T threshold) {
    const T z = beta * x;
    return where(z > threshold, x, (positive_part(z) + log1p(exp(-abs(z)))) / beta);
  }
  template <class T> HOST_DEVICE static T backward(T g, T x, T beta, T threshold) {
    const T z = beta * x;
    return where(z > threshold, g, g * sigmoid(z));
  }
};

struct Softsign {
  static constexpr auto signature = "softsign(input)";
  static constexpr auto doc =
      "x / (1 + |x|)\n"
      ">>> torch.nn.functional.softsign(torch.tensor([-1., 0.5, 4.]))\n"
      "tensor([-0.5000,  0.3333,  0.8000])";
  static constexpr unsigned visible = Visible::functional;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr auto node = "DivBackward0";
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) { return x / (T(1) + abs(x)); }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    const T d = T(1) + abs(x);
    return g / (d * d);
  }
};

struct Tanhshrink {
  static constexpr auto signature = "tanhshrink(input)";
  static constexpr auto doc = "x - tanh(x)";
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr auto node = "SubBackward0";
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) { return x - tanh(x); }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    const T t = tanh(x);
    return g * (t * t);
  }
};

struct Hardsigmoid {
  static constexpr auto signature = "hardsigmoid(input)";
  static constexpr auto doc =
      "x / 6 + 1 / 2, kept within [0, 1].\n"
      ">>> torch.nn.functional.hardsigmoid(torch.tensor([-1., 0.5, 4.]))\n"
      "tensor([0.3333, 0.5833, 1.0000])";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::functional;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) {
    const T z = positive_part(x + T(3));
    return where(z > T(6), T(6), z) / T(6);
  }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    return where((x > T(-3)) & (x < T(3)), g / T(6), T(0));
  }
};

struct Hardswish {
  static constexpr auto signature = "hardswish(input)";
  static constexpr auto doc =
      "x * hardsigmoid(x)\n"
      ">>> torch.nn.functional.hardswish(torch.tensor([-1., 0.5, 4.]))\n"
      "tensor([-0.3333,  0.2917,  4.0000])";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::functional;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x) {
    const T z = positive_part(x + T(3));
    return x * where(z > T(6), T(6), z) / T(6);
  }
  template <class T> HOST_DEVICE static T backward(T g, T x) {
    const T middle = g * (x / T(3) + T(0.5));
    return where(x <= T(-3), T(0), where(x >= T(3), g, middle));
  }
};

struct Hardshrink {
  static constexpr auto signature = "hardshrink(input, lambd=0.5)";
  static constexpr auto doc =
      R"(0 where |x| <= lambd, else x.

Args:
    lambd: half the width of the interval that becomes 0; not negative.

>>> torch.hardshrink(torch.tensor([-1., 0.5, 4.]))
tensor([-1.,  0.,  4.]))";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr Saves save = {Save::input};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x, T lambd) {
    return where((x >= -lambd) & (x <= lambd), T(0), x);
  }
  template <class T> HOST_DEVICE static T backward(T g, T x, T lambd) {
    return where((x < -lambd) | (x > lambd), g, T(0));
  }
};

struct Softshrink {
  static constexpr auto signature = "softshrink(input, lambd=0.5)";
  static constexpr auto doc =
      R"(x moved towards 0 by lambd, and 0 within lambd of it.

Args:
    lambd: half the width of the interval that becomes 0; not negative.

>>> torch.nn.functional.softshrink(torch.tensor([-1., 0.5, 4.]))
tensor([-0.5000,  0.0000,  3.5000]))";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::functional;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr auto kernel = "softshrink_check";
  static constexpr Saves save = {Save::input};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x, T lambd) {
    return where(x > lambd, x - lambd, where(x < -lambd, x + lambd, x * T(0)));
  }
  template <class T> HOST_DEVICE static T backward(T g, T x, T lambd) {
    return where((x >= -lambd) & (x <= lambd), T(0), g);
  }
};

struct Logsigmoid {
  static constexpr auto signature = "logsigmoid(input)";
  static constexpr auto doc =
      "log(sigmoid(x))\n"
      ">>> torch.nn.functional.logsigmoid(torch.tensor([-1., 0.5, 4.]))\n"
      "tensor([-1.3133, -0.4741, -0.0181])";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::functional;
  static constexpr unsigned in_place = Visible::nowhere;
  static constexpr auto kernel = "log_sigmoid_cpu";
  static constexpr auto node = "LogSigmoidBackward0";
  static constexpr Saves save = {Save::input};
  static constexpr bool exact = true;
  template <class T> HOST_DEVICE static T forward(T x) {
    return where(x < T(0), x, T(0)) - log1p(exp(-abs(x)));
  }
  template <class T> HOST_DEVICE static T backward(T g, T x) { return g * sigmoid(-x); }
};

struct Threshold {
  static constexpr auto signature = "threshold(input, threshold=0.0, value=0.0)";
  static constexpr auto doc = "x where x > threshold, else value.";
  static constexpr auto takes = Takes::numeric;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr Saves save = {Save::input};
  template <class T> HOST_DEVICE static T forward(T x, T threshold, T value) {
    return where(x <= threshold, value, x);
  }
  template <class T> HOST_DEVICE static T backward(T g, T x, T threshold, T) {
    return where(x <= threshold, T(0), g);
  }
};

struct Prelu {
  static constexpr auto signature = "prelu_kernel(input, weight)";
  static constexpr auto doc = "x where x > 0, else weight * x.";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr auto node = "PreluKernelBackward0";
  static constexpr Saves save = {Save::input | Save::other, Save::input};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return where(a > T(0), a, a * b); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b) {
    return {where(a > T(0), g, g * b), where(a > T(0), T(0), g * a)};
  }
};

// The halves of glu()'s input. torch's name of its gradient is that of the whole.
struct Glu {
  static constexpr auto signature = "glu(input, gate)";
  static constexpr auto doc = "x * sigmoid(gate).";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr auto node = "GluBackward0";
  static constexpr Saves save = {Save::other, Save::input | Save::other};
  template <class T> HOST_DEVICE static T forward(T a, T b) { return a * sigmoid(b); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T a, T b) {
    const T s = sigmoid(b), scaled = g * s;
    return {scaled, scaled * a * (T(1) - s)};
  }
};

using ActivationOps = OpList<Relu, Hardtanh, LeakyRelu, Elu, Selu, Celu, Gelu, GeluTanh, Silu, Mish,
                             Softplus, Softsign, Tanhshrink, Hardsigmoid, Hardswish, Hardshrink,
                             Softshrink, Logsigmoid, Threshold, Prelu, Glu>;

}  // namespace rushlight
