// Cross entropy and NLL of class indices. Forward reads the input once and writes nothing of its
// size; backward reads it once more and writes the gradient once. Totals are added in a fixed
// order. A target that another thread has changed since it was checked counts as ignored.
#include "../cross_entropy.h"

#include <algorithm>
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

// Calls f(begin, end) for ranges of examples: rows where inner == 1, else columns of one image.
// `read`: how many logits of each.
template <class F>
void each_example(const Shape& s, Index read, F f) {
  const Index work = std::max<Index>(read, 1);
  if (s.inner == 1)
    return parallel_for(s.n, 1 + 4096 / work, [&](Index begin, Index end) { f(begin, end); });
  const Index size = std::max<Index>(64, 32768 / work), pieces = (s.inner + size - 1) / size;
  parallel_for(s.n * pieces, 1, [&](Index begin, Index end) {
    for (; begin < end; ++begin) {
      const Index image = begin / pieces * s.inner, first = begin % pieces * size;
      f(image + first, image + std::min(first + size, s.inner));
    }
  });
}

// The first logit of example i; its others lie s.inner apart.
template <class S>
S* scores_of(const Shape& s, S* x, Index i) {
  if (s.inner == 1) return x + i * s.classes;  // a division would take longer than the rest
  return x + i / s.inner * s.classes * s.inner + i % s.inner;
}

// From it to the next example's, in a range of each_example.
Index next_scores(const Shape& s) { return s.inner == 1 ? s.classes : 1; }

// The class of example i, -1 where it is ignored.
Index class_of(const Shape& s, const Index* target, Index i) {
  const Index c = checked_index(target + i, s.classes);
  return c == s.ignore_index ? -1 : c;
}

CLONES bool any_outside(const Index* t, Index n, Index classes, Index ignore_index) {
  Index outside = 0;
  for (Index i = 0; i < n; ++i)
    outside |= (t[i] != ignore_index) & ((t[i] < 0) | (t[i] >= classes));
  return outside;
}
Index check_targets(const Shape& s, const View& target) {
  const Index* t = target.as<Index>();
  if (!any_outside(t, target.numel, s.classes, s.ignore_index)) return -1;
  for (Index i = 0; i < target.numel; ++i)
    if (t[i] != s.ignore_index && (t[i] < 0 || t[i] >= s.classes)) return i;
  return -1;
}

// In four sums each, as an addition waits for the one before.
template <class T>
void add_totals(const Shape& s, const T* losses, const Index* target, const std::vector<T>& w,
                T* totals) {
  constexpr int kSums = 4;
  double loss[kSums] = {}, weight[kSums] = {};
  const Index n = s.n * s.inner;
  const auto add = [&](int k, Index i) {
    loss[k] += double(losses[i]);
    const Index c = class_of(s, target, i);
    weight[k] += c < 0 ? 0.0 : double(w[c]);
  };
  Index i = 0;
  for (; i + kSums <= n; i += kSums)
#pragma GCC unroll 4
    for (int k = 0; k < kSums; ++k) add(k, i + k);
  for (; i < n; ++i) add(0, i);
  totals[0] = T((loss[0] + loss[1]) + (loss[2] + loss[3]));
  totals[1] = T((weight[0] + weight[1]) + (weight[2] + weight[3]));
}

constexpr Index kTogether = 16;  // rows whose logarithms are one vector

// sum of w[c] * (top - x[c] + log_sum)
template <class S, class T>
CLONES_512 T smooth_loss(const S* x, Index n, T top, T log_sum, const T* w) {
  T acc[rows::kLanes] = {};
  Index i = 0;
  for (; i + rows::kLanes <= n; i += rows::kLanes)
    for (int k = 0; k < rows::kLanes; ++k) acc[k] += w[i + k] * (top - load(x + i + k) + log_sum);
  for (; i < n; ++i) acc[0] += w[i] * (top - load(x + i) + log_sum);
  return rows::total(acc);
}

// The largest of n columns side by side, and log(sum(exp(x - top))).
template <class S, class T>
CLONES_512 void column_log_sums(const S* __restrict x, Index classes, Index inner, Index n,
                                T* __restrict top, T* __restrict sums) {
  std::fill_n(top, n, -std::numeric_limits<T>::infinity());
  std::fill_n(sums, n, T(0));
  each_row(classes, [=](Index d) {
    for (Index c = 0; c < n; ++c) {
      const T v = load(x + d * inner + c);
      top[c] = v > top[c] ? v : top[c];
    }
  });
  each_row(classes, [=](Index d) {
    for (Index c = 0; c < n; ++c) sums[c] += rows::negative_exp(load(x + d * inner + c) - top[c]);
  });
  for (Index c = 0; c < n; ++c) sums[c] = log(sums[c]);
}

// factor * exp(x - top - log_sum) - share * w of n columns, each with its own factor and share.
template <class S, class T>
CLONES_512 void column_grads(const S* __restrict x, Index classes, Index inner, Index n,
                             const T* __restrict tops, const T* __restrict log_sums,
                             const T* __restrict factors, const T* __restrict shares,
                             const T* __restrict w, S* __restrict out) {
  each_row(classes, [=](Index d) {
    for (Index c = 0; c < n; ++c) {
      const T p = rows::negative_exp(load(x + d * inner + c) - tops[c] - log_sums[c]);
      store(out + d * inner + c, p * factors[c] - shares[c] * w[d]);
    }
  });
}

template <class T>
CLONES_512 void logarithms(T* sums) {
  for (Index i = 0; i < kTogether; ++i) sums[i] = T(log(sums[i]));
}
// The largest of kTogether rows or fewer, and log(sum(exp(x - top))).
template <class S, class T>
void row_log_sums(const S* x, Index classes, Index n, T* tops, T* log_sums) {
  T sums[kTogether];
  std::fill_n(sums, kTogether, T(1));
  for (Index i = 0; i < n; ++i)
    sums[i] = rows::sum_exp_below_top(x + i * classes, classes, tops[i]);
  logarithms(sums);
  std::copy_n(sums, n, log_sums);
}

void forward(const Shape& s, const View& input, const View& target, const View* weight,
             const View& losses, const View& log_sums, const View& totals) {
  dispatch_floating(input.dtype, [&]<class S>(Type<S>) {
    using T = Compute<S>;
    const std::vector<T> w = weights<S>(s, weight);
    const Index* t = target.as<Index>();
    const T smoothing = T(s.label_smoothing), share = smoothing / T(s.classes);
    each_example(s, s.classes, [&](Index begin, Index end) {
      T *const tops = log_sums.as<T>(), *const sums = tops + s.n * s.inner;
      T* const out = losses.as<T>();
      const S* x = scores_of(s, input.as<S>(), begin);
      const Index inner = s.inner, next = next_scores(s);
      const T own = T(1) - smoothing, *const factors = w.data();
      const bool smooth = smoothing != T(0);
      if (s.inner != 1)
        column_log_sums(x, s.classes, s.inner, end - begin, tops + begin, sums + begin);
      for (Index i = begin; i < end; ++i, x += next) {
        if (inner == 1 && (i - begin) % kTogether == 0)
          row_log_sums(x, s.classes, std::min(kTogether, end - i), tops + i, sums + i);
        const Index c = class_of(s, t, i);
        T loss = c < 0 ? T(0) : own * factors[c] * (tops[i] - load(x + c * inner) + sums[i]);
        if (smooth && c >= 0) {
          if (inner == 1)
            loss += share * rows::sum_of_pieces<T>(s.classes, [&](Index d, Index past) {
                      return smooth_loss(x + d, past - d, tops[i], sums[i], factors + d);
                    });
          else
            for (Index d = 0; d < s.classes; ++d)
              loss += share * factors[d] * (tops[i] - load(x + d * inner) + sums[i]);
        }
        out[i] = loss;
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
    S* const out = grad_input.as<S>();
    const T *const tops = log_sums.as<T>(), *const sums = tops + s.n * s.inner;
    each_example(s, s.classes, [&](Index begin, Index end) {
      const Index n = s.inner == 1 ? 0 : end - begin;
      Scratch<T> factors(n + 1), shares(n + 1);
      Scratch<Index> classes(n + 1);
      const S* x = scores_of(s, input.as<S>(), begin);
      S* to = scores_of(s, out, begin);
      const auto factor_of = [&](Index i, Index c) {
        return grad.as<T>()[i * step] * ((T(1) - smoothing) * w[c] + share * weight_sum);
      };
      if (s.inner != 1) {
        for (Index i = begin; i < end; ++i) {
          const Index c = classes[i - begin] = class_of(s, t, i);
          factors[i - begin] = c < 0 ? T(0) : factor_of(i, c);
          shares[i - begin] = c < 0 ? T(0) : grad.as<T>()[i * step] * share;
        }
        column_grads(x, s.classes, s.inner, n, tops + begin, sums + begin, factors.data(),
                     shares.data(), w.data(), to);
      }
      for (Index i = begin; i < end; ++i, x += next_scores(s), to += next_scores(s)) {
        const Index c = s.inner == 1 ? class_of(s, t, i) : classes[i - begin];
        if (c < 0) {  // whatever its logits are
          for (Index d = 0; d < s.classes; ++d) store(to + d * s.inner, T(0));
          continue;
        }
        const T g = grad.as<T>()[i * step];
        if (s.inner == 1)
          serial_for(s.classes, [&](Index d, Index past) {
            rows::probability_grad(x + d, past - d, tops[i], sums[i], factor_of(i, c), g * share,
                                   w.data() + d, to + d);
          });
        // The target's own element is computed whole, so that a 16-bit result is rounded once.
        const T own = (T(1) - smoothing) * w[c],
                p = rows::negative_exp(load(x + c * s.inner) - tops[i] - sums[i]);
        store(to + c * s.inner, g * ((own + share * weight_sum) * p - own - share * w[c]));
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
    each_example(s, 1, [&](Index begin, Index end) {
      const S* x = scores_of(s, input.as<S>(), begin);
      for (Index i = begin; i < end; ++i, x += next_scores(s)) {
        const Index c = class_of(s, t, i);
        losses.as<T>()[i] = c < 0 ? T(0) : -w[c] * load(x + c * s.inner);
      }
    });
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
    if (s.inner != 1) std::fill_n(out, grad_input.numel, S{});
    each_example(s, s.classes, [&](Index begin, Index end) {
      S* to = scores_of(s, out, begin);
      if (s.inner == 1) std::fill_n(to, (end - begin) * s.classes, S{});
      for (Index i = begin; i < end; ++i, to += next_scores(s))
        if (const Index c = class_of(s, t, i); c >= 0)
          store(to + c * s.inner, -w[c] * grad.as<T>()[i * step]);
    });
  });
}

}  // namespace

const CrossEntropyKernels cpu_cross_entropy = {check_targets, forward, backward, nll, nll_backward};

}  // namespace rushlight
