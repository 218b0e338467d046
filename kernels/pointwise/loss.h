// Losses of one element and its target; csrc/ops/loss reduces them.
#pragma once
#include "activation.h"

namespace rushlight {

struct MseLoss {
  static constexpr auto signature = "mse(input, target)";
  static constexpr auto doc = "(input - target)^2";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr auto node = "MseLossBackward0";
  static constexpr Saves save = {Save::input | Save::other, Save::input | Save::other};
  template <class T> HOST_DEVICE static T forward(T x, T t) { return (x - t) * (x - t); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T x, T t) {
    const T d = g * (T(2) * (x - t));
    return {d, -d};
  }
};

struct L1Loss {
  static constexpr auto signature = "l1(input, target)";
  static constexpr auto doc = "|input - target|";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr auto node = "AbsBackward0";
  static constexpr Saves save = {Save::input | Save::other, Save::input | Save::other};
  template <class T> HOST_DEVICE static T forward(T x, T t) { return abs(x - t); }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T x, T t) {
    const T d = where(x > t, g, where(x < t, -g, T(0)));
    return {d, -d};
  }
};

struct SmoothL1Loss {
  static constexpr auto signature = "smooth_l1(input, target, beta=1.0)";
  static constexpr auto doc =
      "d^2 / (2 beta) where d = |input - target| < beta, else d - beta / 2.";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr auto kernel = "smooth_l1_cpu";
  static constexpr auto node = "SmoothL1LossBackward0";
  static constexpr Saves save = {Save::input | Save::other, Save::input | Save::other};
  template <class T> HOST_DEVICE static T forward(T x, T t, T beta) {
    const T d = abs(x - t);
    return where(d < beta, T(0.5) * d * d / where(beta > T(0), beta, T(1)), d - T(0.5) * beta);
  }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T x, T t, T beta) {
    const T z = x - t, near = z / where(beta > T(0), beta, T(1));
    const T far = where(z > T(0), g, where(z < T(0), -g, T(0)));
    const T d = where(abs(z) >= beta, far, g * near);
    return {d, -d};
  }
};

struct HuberLoss {
  static constexpr auto signature = "huber(input, target, delta=1.0)";
  static constexpr auto doc =
      "d^2 / 2 where d = |input - target| < delta, else delta * (d - delta / 2).";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr auto node = "HuberLossBackward0";
  static constexpr Saves save = {Save::input | Save::other, Save::input | Save::other};
  template <class T> HOST_DEVICE static T forward(T x, T t, T delta) {
    const T d = abs(x - t);
    return where(d < delta, T(0.5) * d * d, delta * (d - T(0.5) * delta));
  }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T x, T t, T delta) {
    const T z = x - t;
    const T far = where(z > T(0), g * delta, g * -delta);
    const T d = where(abs(z) >= delta, far, g * z);
    return {d, -d};
  }
};

struct BinaryCrossEntropy {
  static constexpr auto signature = "bce(input, target)";
  static constexpr auto doc = "-(t log(x) + (1 - t) log(1 - x)), each logarithm kept above -100.";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr auto kernel = "binary_cross_entropy";
  static constexpr auto node = "BinaryCrossEntropyBackward0";
  static constexpr Saves save = {Save::input | Save::other, Save::input};
  static constexpr Domain domain = {0.1, 0.9};
  template <class T> HOST_DEVICE static T forward(T x, T t) {
    const T a = log(x), b = log1p(-x);
    return (t - T(1)) * where(b < T(-100), T(-100), b) - t * where(a < T(-100), T(-100), a);
  }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T x, T t) {
    const T slope = x * (T(1) - x);
    const T a = log(x), b = log1p(-x);
    return {g * ((x - t) / where(slope < T(1e-12), T(1e-12), slope)),
            g * (where(b < T(-100), T(-100), b) - where(a < T(-100), T(-100), a))};
  }
};

struct BceWithLogits {
  static constexpr auto signature = "bce_with_logits(input, target)";
  static constexpr auto doc = "bce() of sigmoid(input), without overflow.";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr auto kernel = "log_sigmoid_cpu";
  static constexpr auto node = "BinaryCrossEntropyWithLogitsBackward0";
  static constexpr Saves save = {Save::input | Save::other, Save::input};
  template <class T> HOST_DEVICE static T forward(T x, T t) {
    return (T(1) - t) * x - where(x < T(0), x, T(0)) + log1p(exp(-abs(x)));
  }
  template <class T> HOST_DEVICE static Grads<T, 2> backward(T g, T x, T t) {
    return {g * (sigmoid(x) - t), -g * x};
  }
};

struct BceWithLogitsWeighted {
  static constexpr auto signature = "bce_with_logits_weighted(input, target, pos_weight)";
  static constexpr auto doc = "bce_with_logits() with a weight for the positive class.";
  static constexpr auto takes = Takes::floating;
  static constexpr unsigned visible = Visible::nowhere;
  static constexpr auto kernel = "log_sigmoid_cpu";
  static constexpr auto node = "BinaryCrossEntropyWithLogitsBackward0";
  static constexpr Saves save = {Save::input | Save::other | Save::third, Save::input | Save::third,
                                 Save::input | Save::other};
  template <class T> HOST_DEVICE static T forward(T x, T t, T p) {
    const T softplus_of_minus = log1p(exp(-abs(x))) - where(x < T(0), x, T(0));
    return (T(1) - t) * x + (T(1) + (p - T(1)) * t) * softplus_of_minus;
  }
  template <class T> HOST_DEVICE static Grads<T, 3> backward(T g, T x, T t, T p) {
    const T s = sigmoid(-x), weight = T(1) + (p - T(1)) * t, cost = softplus(-x);
    return {g * ((T(1) - t) - weight * s), g * ((p - T(1)) * cost - x), g * (t * cost)};
  }
};

using LossOps = OpList<MseLoss, L1Loss, SmoothL1Loss, HuberLoss, BinaryCrossEntropy, BceWithLogits,
                       BceWithLogitsWeighted>;

}  // namespace rushlight
