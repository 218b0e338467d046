// The formulas of the recurrent cells, for one element of a state: with T a float in the kernels
// of all devices, with T = Value (forward only) as the composition that gradients of gradients
// need.
#pragma once
#include "pointwise/activation.h"
#include "pointwise/exponential.h"

namespace rushlight {

template <class T>
struct LstmState {
  T i, f, g, o, c, h;
};
// From the gates before their activations and the last c.
template <class T>
HOST_DEVICE inline LstmState<T> lstm_step(T i, T f, T g, T o, T c) {
  LstmState<T> s{sigmoid(i), sigmoid(f), tanh(g), sigmoid(o), c, c};
  s.c = s.f * c + s.i * s.g;
  s.h = s.o * tanh(s.c);
  return s;
}

template <class T>
struct LstmGradient {
  T i, f, g, o, c;
};
// gh, gc: the gradients of h and c after the step; `last`: c before it.
template <class T>
HOST_DEVICE inline LstmGradient<T> lstm_gradient(const LstmState<T>& s, T last, T gh, T gc) {
  const T t = tanh(s.c);
  const T all = gc + Tanh::backward<T>(gh * s.o, t);
  return {Sigmoid::backward<T>(all * s.g, s.i), Sigmoid::backward<T>(all * last, s.f),
          Tanh::backward<T>(all * s.i, s.g), Sigmoid::backward<T>(gh * t, s.o), all * s.f};
}

template <class T>
struct GruState {
  T r, z, n, h;
};
// x..: the input's parts of the gates; h..: the parts of the last h; `last`: that h.
template <class T>
HOST_DEVICE inline GruState<T> gru_step(T xr, T xz, T xn, T hr, T hz, T hn, T last) {
  GruState<T> s{sigmoid(xr + hr), sigmoid(xz + hz), last, last};
  s.n = tanh(xn + s.r * hn);
  s.h = (last - s.n) * s.z + s.n;
  return s;
}

template <class T>
struct GruGradient {
  T r, z, n, hn, h;  // h: what reaches the last h past the gates
};
template <class T>
HOST_DEVICE inline GruGradient<T> gru_gradient(const GruState<T>& s, T hn, T last, T gh) {
  const T n = Tanh::backward<T>(gh * (T(1) - s.z), s.n);
  return {Sigmoid::backward<T>(n * hn, s.r), Sigmoid::backward<T>(gh * (last - s.n), s.z), n,
          n * s.r, gh * s.z};
}

}  // namespace rushlight
