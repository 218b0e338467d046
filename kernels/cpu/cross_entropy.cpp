// Cross entropy and NLL of class indices. Forward reads the input once and writes nothing of its
// size; backward reads it once more and writes the gradient once. Totals are added in a fixed
// order. A target that another thread has changed since it was checked counts as ignored.
#include "../cross_entropy.h"

#include <vector>

#include "../parallel.h"
#include "read_once.h"
#include "scratch.h"
#include "softmax_loops.h"

namespace rushlight {
namespace {

using rows::Index;
using Shape = CrossEntropyShape;

// Each class's weight in T, ones where there are none.
template <class S, class T = Compute<S>>
std::vector<T> weights(const Shape& s, const View* weight) {
  std::vector<T> w(s.classes, T(1));
  for (Index c = 0; c < s.classes && weight; ++c) w[c] = load(weight->as<S>() + c);
  return w;
}

// One example's scores as a contiguous row: in place where inner == 1.
template <class S>
const S* row_of(const Shape& s, const S* x, Index i, S* copy) {
  const S* first = x + i / s.inner * s.classes * s.inner + i % s.inner;
  if (s.inner == 1) return first;
  for (Index c = 0; c < s.classes; ++c) copy[c] = first[c * s.inner];
  return copy;
}

template <class F>
void each_example(const Shape& s, F f) {
  const Index work = std::max<Index>(s.classes, 1);
  parallel_for(s.n * s.inner, 1 + 4096 / work, [&](Index begin, Index end) { f(begin, end); });
}

// The class of example i, -1 where it is ignored.
Index class_of(const Shape& s, const Index* target, Index i) {
  const Index c = checked_index(target + i, s.classes);
  return c == s.ignore_index ? -1 : c;
}

Index check_targets(const Shape& s, const View& target) {
  const Index* t = target.as<Index>();
  for (Index i = 0; i < target.numel; ++i)
    if (t[i] != s.ignore_index && (t[i] < 0 || t[i] >= s.classes)) return i;
  return -1;
}

template <class T>
void add_totals(const Shape& s, const T* losses, const Index* target, const std::vector<T>& w,
                T* totals) {
  double loss = 0, weight = 0;
  for (Index i = 0; i < s.n * s.inner; ++i) {
    loss += double(losses[i]);
    if (const Index c = class_of(s, target, i); c >= 0) weight += double(w[c]);
  }
  totals[0] = T(loss);
  totals[1] = T(weight);
}

// sum of w[c] * (log_sum - x[c])
template <class S, class T>
CLONES T smooth_loss(const S* x, Index n, T log_sum, const T* w) {
  T acc[rows::kLanes] = {};
  Index i = 0;
  for (; i + rows::kLanes <= n; i += rows::kLanes)
    for (int k = 0; k < rows::kLanes; ++k) acc[k] += w[i + k] * (log_sum - load(x + i + k));
  for (; i < n; ++i) acc[0] += w[i] * (log_sum - load(x + i));
  return rows::total(acc);
}

void forward(const Shape& s, const View& input, const View& target, const View* weight,
             const View& losses, const View& log_sums, const View& totals) {
  dispatch_floating(input.dtype, [&]<class S>(Type<S>) {
    using T = Compute<S>;
    const std::vector<T> w = weights<S>(s, weight);
    const Index* t = target.as<Index>();
    const T smoothing = T(s.label_smoothing), share = smoothing / T(s.classes);
    each_example(s, [&](Index begin, Index end) {
      Scratch<S> copy(s.inner == 1 ? 1 : s.classes);
      for (Index i = begin; i < end; ++i) {
        T& loss = losses.as<T>()[i];
        const S* x = row_of(s, input.as<S>(), i, copy.data());
        const T top = rows::largest(x, s.classes);
        const T log_sum = top + T(log(rows::sum_exp(x, s.classes, top)));
        log_sums.as<T>()[i] = log_sum;
        loss = 0;
        const Index c = class_of(s, t, i);
        if (c < 0) continue;
        loss = (T(1) - smoothing) * w[c] * (log_sum - load(x + c));
        if (smoothing != T(0)) loss += share * smooth_loss(x, s.classes, log_sum, w.data());
      }
    });
    add_totals(s, losses.as<T>(), t, w, totals.as<T>());
  });
}

void backward(const Shape& s, const View& grad, const View& input, const View& target,
              const View* weight, const View& log_sums, const View& grad_input) {
  dispatch_floating(input.dtype, [&]<class S>(Type<S>) {
    using T = Compute<S>;
    const std::vector<T> w = weights<S>(s, weight);
    const Index* t = target.as<Index>();
    const Index step = grad.numel == 1 ? 0 : 1;
    const T smoothing = T(s.label_smoothing), share = smoothing / T(s.classes);
    T weight_sum = 0;
    for (const T v : w) weight_sum += v;
    each_example(s, [&](Index begin, Index end) {
      Scratch<S> copy(s.inner == 1 ? 1 : s.classes), result(s.inner == 1 ? 1 : s.classes);
      for (Index i = begin; i < end; ++i) {
        S* to = grad_input.as<S>() + i / s.inner * s.classes * s.inner + i % s.inner;
        S* out = s.inner == 1 ? to : result.data();
        const Index target_class = class_of(s, t, i);
        if (target_class < 0) {
          for (Index c = 0; c < s.classes; ++c) store(to + c * s.inner, T(0));
          continue;
        }
        const T of_class = w[target_class];
        const T g = grad.as<T>()[i * step], own = (T(1) - smoothing) * of_class;
        const T log_sum = log_sums.as<T>()[i];
        const S* x = row_of(s, input.as<S>(), i, copy.data());
        rows::probability_grad(x, s.classes, log_sum, g * (own + share * weight_sum), g * share,
                               w.data(), out);
        // The target's own element is computed whole, so that a 16-bit result is rounded once.
        const T p = rows::negative_exp(load(x + target_class) - log_sum);
        store(out + target_class, g * ((own + share * weight_sum) * p - own - share * of_class));
        for (Index c = 0; c < s.classes && s.inner != 1; ++c) to[c * s.inner] = out[c];
      }
    });
  });
}

void nll(const Shape& s, const View& input, const View& target, const View* weight,
         const View& losses, const View& totals) {
  dispatch_floating(input.dtype, [&]<class S>(Type<S>) {
    using T = Compute<S>;
    const std::vector<T> w = weights<S>(s, weight);
    const Index* t = target.as<Index>();
    for (Index i = 0; i < s.n * s.inner; ++i) {
      const S* first = input.as<S>() + i / s.inner * s.classes * s.inner + i % s.inner;
      const Index c = class_of(s, t, i);
      losses.as<T>()[i] = c < 0 ? T(0) : -w[c] * load(first + c * s.inner);
    }
    add_totals(s, losses.as<T>(), t, w, totals.as<T>());
  });
}

void nll_backward(const Shape& s, const View& grad, const View& target, const View* weight,
                  const View& grad_input) {
  dispatch_floating(grad_input.dtype, [&]<class S>(Type<S>) {
    using T = Compute<S>;
    const std::vector<T> w = weights<S>(s, weight);
    const Index* t = target.as<Index>();
    const Index step = grad.numel == 1 ? 0 : 1;
    S* out = grad_input.as<S>();
    std::fill_n(out, grad_input.numel, S{});
    for (Index i = 0; i < s.n * s.inner; ++i)
      if (const Index c = class_of(s, t, i); c >= 0)
        store(out + (i / s.inner * s.classes + c) * s.inner + i % s.inner,
              -w[c] * grad.as<T>()[i * step]);
  });
}

}  // namespace

const CrossEntropyKernels cpu_cross_entropy = {check_targets, forward, backward, nll, nll_backward};

}  // namespace rushlight
