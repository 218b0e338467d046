// The formula of every optimizer, for all devices: one struct each, whose members are the settings
// of a parameter group. `step` takes an element of a parameter, what descent() makes of its
// gradient, and its state (s[0] is the first of F::states()), and changes them; `coefficients` are
// computed once a parameter, on the host. Note: the order of roundings is torch's, operation by
// operation. With T = Value (csrc/ops/value.h) the same text is the step that autograd records.
#pragma once
#include "math/exponential.h"
#include "math/integer.h"
#include "optim.h"

namespace rushlight::optim {

// What a setting chooses, the same for all elements, by its bits: of a bool that does not change in
// a loop gcc makes no mask, and so of the loop no vector code.
template <class T>
HOST_DEVICE T chosen(bool condition, T a, T b) {
  if constexpr (Real<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    const Bits mask = -Bits(condition);
    return std::bit_cast<T>((std::bit_cast<Bits>(a) & mask) | (std::bit_cast<Bits>(b) & ~mask));
  } else {
    return condition ? a : b;
  }
}

// v + w (x - v), from the nearer end, as torch.lerp computes it.
template <class T>
HOST_DEVICE T lerp(T v, T x, double w) {
  const bool near = w < 0.5;
  return chosen<T>(near, v, x) + (near ? T(w) : T(w) - T(1)) * (x - v);
}
// A running mean of squares: v b + (1 - b) g^2.
template <class T>
HOST_DEVICE T mean_square(T v, T g, double b) {
  return v * T(b) + T(1 - b) * g * g;
}
template <class T>
HOST_DEVICE T larger(T a, T b) {  // a NaN wins
  return where((a > b) | (a != a), a, b);
}

template <Real T>
HOST_DEVICE T constant(T x) {  // without the history that a Value may have
  return x;
}

struct Settings {
  double lr = 0, eps = 0, weight_decay = 0;
  bool maximize = false;
  bool decoupled = false;  // weight decay scales the parameter and leaves the gradient alone
  struct Coefficients {};
  static constexpr int kScalars = 0;  // scalars of state a parameter, beside the step
  static constexpr bool kCountsSteps = true;
  static constexpr bool kLight = false;  // so few operations that those of descent() count

  // Whether descent() leaves a gradient as it is.
  bool is_plain() const { return !maximize && (weight_decay == 0 || decoupled); }
  // The gradient with its sign and weight decay.
  template <class T>
  HOST_DEVICE T descent(T g, T p) const {
    const T down = chosen<T>(maximize, -g, g);
    return chosen<T>(weight_decay != 0 && !decoupled, down + p * T(weight_decay), down);
  }
  template <class T>
  HOST_DEVICE T decayed(T p) const {
    return chosen<T>(decoupled, p * T(1 - lr * weight_decay), p);
  }
};

struct Sgd : Settings {
  double momentum = 0, dampening = 0;
  bool nesterov = false;
  struct Coefficients {
    bool fresh;  // the momentum has no value yet and becomes the gradient
  };
  static constexpr bool kCountsSteps = false;
  static constexpr bool kLight = true;
  static constexpr int kFewest = 0, kStates = 1;
  int states() const { return momentum != 0; }
  Coefficients coefficients(double, double*) const { return {}; }
  template <int N, class T>
  HOST_DEVICE void step(T& p, T g, T* s, const Coefficients& now) const {
    if constexpr (N == 1) {
      s[0] = chosen<T>(now.fresh, constant(g), s[0] * T(momentum) + g * T(1 - dampening));
      g = chosen<T>(nesterov, g + s[0] * T(momentum), s[0]);
    }
    p = p - T(lr) * g;
  }
};

struct Adam : Settings {
  double beta1 = 0, beta2 = 0;
  bool amsgrad = false;
  struct Coefficients {
    double step_size, root_correction2;
  };
  static constexpr int kFewest = 2, kStates = 3;  // mean, mean of squares, the largest of these
  int states() const { return amsgrad ? 3 : 2; }
  Coefficients coefficients(double t, double*) const {
    return {lr / (1 - std::pow(beta1, t)), std::sqrt(1 - std::pow(beta2, t))};
  }
  template <int N, class T>
  HOST_DEVICE void step(T& p, T g, T* s, const Coefficients& now) const {
    s[0] = lerp(s[0], g, 1 - beta1);
    s[1] = mean_square(s[1], g, beta2);
    if constexpr (N == 3) s[2] = larger(s[2], s[1]);
    const T root = sqrt(s[N - 1]) / T(now.root_correction2) + T(eps);
    p = decayed(p) - T(now.step_size) * s[0] / root;
  }
};

struct Adadelta : Settings {
  double rho = 0;
  static constexpr int kFewest = 2, kStates = 2;  // means of g^2 and of the changes' squares
  int states() const { return 2; }
  Coefficients coefficients(double, double*) const { return {}; }
  template <int N, class T>
  HOST_DEVICE void step(T& p, T g, T* s, const Coefficients&) const {
    s[0] = mean_square(s[0], g, rho);
    const T delta = sqrt(s[1] + T(eps)) / sqrt(s[0] + T(eps)) * g;
    s[1] = mean_square(s[1], delta, rho);
    p = p - T(lr) * delta;
  }
};

struct Adagrad : Settings {
  double lr_decay = 0;
  struct Coefficients {
    double rate;
  };
  static constexpr int kFewest = 1, kStates = 1;  // the sum of g^2
  int states() const { return 1; }
  Coefficients coefficients(double t, double*) const { return {lr / (1 + (t - 1) * lr_decay)}; }
  template <int N, class T>
  HOST_DEVICE void step(T& p, T g, T* s, const Coefficients& now) const {
    s[0] = s[0] + g * g;
    p = p - T(now.rate) * g / (sqrt(s[0]) + T(eps));
  }
};

struct Adamax : Settings {
  double beta1 = 0, beta2 = 0;
  struct Coefficients {
    double rate;
  };
  static constexpr bool kLight = true;
  static constexpr int kFewest = 2, kStates = 2;  // mean, infinity norm
  int states() const { return 2; }
  Coefficients coefficients(double t, double*) const { return {lr / (1 - std::pow(beta1, t))}; }
  template <int N, class T>
  HOST_DEVICE void step(T& p, T g, T* s, const Coefficients& now) const {
    s[0] = lerp(s[0], g, 1 - beta1);
    s[1] = larger(s[1] * T(beta2), abs(g) + T(eps));
    p = p - T(now.rate) * s[0] / s[1];
  }
};

struct Asgd : Settings {
  double lambd = 0, alpha = 0, t0 = 0;
  struct Coefficients {
    double eta, mu;
  };
  static constexpr int kScalars = 2;  // eta and mu of the next step
  static constexpr bool kLight = true;
  static constexpr int kFewest = 1, kStates = 1;  // the averaged parameter
  int states() const { return 1; }
  Coefficients coefficients(double t, double* scalars) const {
    const Coefficients now{scalars[0], scalars[1]};
    scalars[0] = lr / std::pow(1 + lambd * lr * t, alpha);
    scalars[1] = 1 / (t - t0 > 1 ? t - t0 : 1);
    return now;
  }
  template <int N, class T>
  HOST_DEVICE void step(T& p, T g, T* s, const Coefficients& now) const {
    p = p * T(1 - lambd * now.eta) - T(now.eta) * g;
    s[0] = chosen<T>(now.mu == 1, p, s[0] + (p - s[0]) * T(now.mu));
  }
};

struct NAdam : Settings {
  double beta1 = 0, beta2 = 0, momentum_decay = 0;
  struct Coefficients {
    double of_gradient, of_mean, correction2;
  };
  static constexpr int kScalars = 1;  // the product of all mu, a float32
  static constexpr int kFewest = 2, kStates = 2;  // mean, mean of squares
  int states() const { return 2; }
  double mu(double t) const { return beta1 * (1 - 0.5 * std::pow(0.96, t * momentum_decay)); }
  Coefficients coefficients(double t, double* scalars) const {
    const double next = mu(t + 1);
    const double product = scalars[0] = float(scalars[0]) * float(mu(t));
    return {-lr * (1 - mu(t)) / (1 - product), -lr * next / (1 - product * next),
            1 - std::pow(beta2, t)};
  }
  template <int N, class T>
  HOST_DEVICE void step(T& p, T g, T* s, const Coefficients& now) const {
    s[0] = lerp(s[0], g, 1 - beta1);
    s[1] = mean_square(s[1], g, beta2);
    const T root = sqrt(s[1] / T(now.correction2)) + T(eps);
    p = decayed(p) + T(now.of_gradient) * g / root;
    p = p + T(now.of_mean) * s[0] / root;
  }
};

struct RAdam : Settings {
  double beta1 = 0, beta2 = 0;
  struct Coefficients {
    double correction1, root_correction2;
    double rectify;  // 0 while the variance of the mean of squares is not to be trusted
  };
  static constexpr int kFewest = 2, kStates = 2;  // mean, mean of squares
  int states() const { return 2; }
  Coefficients coefficients(double t, double*) const {
    const double power = std::pow(beta2, t), correction2 = 1 - power;
    const double longest = 2 / (1 - beta2) - 1, length = longest - 2 * t * power / correction2;
    const double ratio =
        (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length);
    return {1 - std::pow(beta1, t), std::sqrt(correction2), length > 5 ? std::sqrt(ratio) : 0};
  }
  template <int N, class T>
  HOST_DEVICE void step(T& p, T g, T* s, const Coefficients& now) const {
    s[0] = lerp(s[0], g, 1 - beta1);
    s[1] = mean_square(s[1], g, beta2);
    const T move = s[0] / T(now.correction1) * T(lr);
    const T adapted = move * (T(now.root_correction2) / (sqrt(s[1]) + T(eps))) * T(now.rectify);
    p = decayed(p) - chosen<T>(now.rectify != 0, adapted, move);
  }
};

struct RmsProp : Settings {
  double alpha = 0, momentum = 0;
  bool centered = false;
  static constexpr int kFewest = 1, kStates = 3;  // mean of squares; mean; momentum
  int states() const { return 1 + centered + (momentum > 0); }
  Coefficients coefficients(double, double*) const { return {}; }
  template <int N, class T>
  HOST_DEVICE void step(T& p, T g, T* s, const Coefficients&) const {
    s[0] = mean_square(s[0], g, alpha);
    T variance = s[0];
    if constexpr (N > 1) {
      const T mean = lerp(s[1], g, 1 - alpha);
      s[1] = chosen<T>(centered, mean, s[1]);
      variance = chosen<T>(centered, s[0] - mean * mean, s[0]);
    }
    const T root = sqrt(variance) + T(eps);
    if constexpr (N == 1) {
      p = p - T(lr) * g / root;
    } else {
      const bool moves = N == 3 || !centered;
      s[N - 1] = chosen<T>(moves, s[N - 1] * T(momentum) + g / root, s[N - 1]);
      p = p - chosen<T>(moves, T(lr) * s[N - 1], T(lr) * g / root);
    }
  }
};

struct Rprop : Settings {
  double shrink = 0, grow = 0, least = 0, most = 0;
  static constexpr bool kLight = true;
  static constexpr int kFewest = 2, kStates = 2;  // the last gradient, the size of the step
  int states() const { return 2; }
  Coefficients coefficients(double, double*) const { return {}; }
  template <int N, class T>
  HOST_DEVICE void step(T& p, T g, T* s, const Coefficients&) const {
    const T turn = g * s[0], zero(0);
    const T shorter = where(turn < zero, s[1] * T(shrink), s[1]);
    const T size = where(turn > zero, s[1] * T(grow), where(turn != turn, turn, shorter));
    const T above = where(size < T(least), T(least), size);
    s[1] = where(above > T(most), T(most), above);
    s[0] = where(turn < zero, zero, g);
    p = p - where(s[0] > zero, s[1], where(s[0] < zero, -s[1], s[0] * s[1]));
  }
};

// Calls f(std::integral_constant<int, settings.states()>).
template <class F, int N = F::kFewest, class Call>
void with_states(const F& settings, const Call& f) {
  if constexpr (N < F::kStates)
    if (settings.states() != N) return with_states<F, N + 1>(settings, f);
  f(std::integral_constant<int, N>());
}

}  // namespace rushlight::optim
