// The loops of attention over one row of a block of logits. Note: a row of which
// nothing may be attended to has a maximum of -inf, a sum of 0 and a log-sum-exp of +inf.
#pragma once
#include <cmath>

#include "softmax_loops.h"

namespace rushlight::attention {

using Index = std::int64_t;

// x += mask, or where it is false, -inf. `step`: elements from key to key, often 1 or 0.
template <class T>
CLONES_512 void add_mask(T* __restrict x, Index n, const T* __restrict mask, Index step) {
  if (step == 1)
    for (Index i = 0; i < n; ++i) x[i] += mask[i];
  else
    for (Index i = 0; i < n; ++i) x[i] += mask[i * step];
}
// Bytes: of a bool itself gcc makes a branch.
template <class T>
CLONES_512 void apply_mask(T* __restrict x, Index n, const std::uint8_t* __restrict mask,
                           Index step) {
  constexpr T never = -std::numeric_limits<T>::infinity();
  const auto masked = [](T v, std::uint8_t allowed) { return allowed ? v : never; };
  if (step == 1)
    for (Index i = 0; i < n; ++i) x[i] = masked(x[i], mask[i]);
  else
    for (Index i = 0; i < n; ++i) x[i] = masked(x[i], mask[i * step]);
}

// x = exp(x - top); returns the sum.
template <class T>
CLONES_512 T exponentials(T* x, Index n, T top) {
  T acc[rows::kLanes] = {}, rest = 0;
  Index i = 0;
  for (; i + rows::kLanes <= n; i += rows::kLanes)
    for (int k = 0; k < rows::kLanes; ++k) {
      const T y = rows::negative_exp(x[i + k] - top);
      x[i + k] = y;
      acc[k] += y;
    }
  for (; i < n; ++i) rest += x[i] = rows::negative_exp(x[i] - top);
  return n < rows::kLanes ? rest : rows::total(acc) + rest;
}
template <class T>
CLONES_512 void multiply(T* x, Index n, T factor) {
  for (Index i = 0; i < n; ++i) x[i] *= factor;
}
// y = x * noise
template <class T>
CLONES_512 void drop(const T* x, Index n, const std::uint8_t* kept, T scale, T* y) {
  for (Index i = 0; i < n; ++i) y[i] = x[i] * (kept[i] ? scale : T(0));
}
// The gradient of a row of logits: grad = weights * (grad - delta)
template <class T>
CLONES_512 void score_gradients(const T* __restrict weights, Index n, T delta, T* __restrict grad) {
  for (Index i = 0; i < n; ++i) grad[i] = weights[i] * (grad[i] - delta);
}
template <class T>
CLONES_512 void add_to(const T* __restrict x, Index n, T* __restrict sums, Index step) {
  if (step == 1)
    for (Index i = 0; i < n; ++i) sums[i] += x[i];
  else
    for (Index i = 0; i < n; ++i) sums[i * step] += x[i];
}

}  // namespace rushlight::attention
