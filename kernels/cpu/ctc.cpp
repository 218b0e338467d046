// CTC: examples are split among the threads; a step is a loop over the states, whose rows have room
// for two more on the side from which paths come.
#include "../ctc.h"

#include <algorithm>

#include "../host_device.h"
#include "../parallel.h"
#include "scratch.h"

namespace rushlight {
namespace {

using Index = std::int64_t;
using Shape = CtcShape;

// out[s] = emitted[s] + log-probability of the paths from `last`, at s, s + by and, where `skip` is
// 0 and not -inf, at s + 2 by.
template <class T>
CLONES void step(Index n, Index by, const T* __restrict last, const T* __restrict skip,
                 const T* __restrict emitted, T* __restrict out) {
  for (Index s = 0; s < n; ++s)
    out[s] = emitted[s] + log_sum(last[s], last[s + by], last[s + 2 * by] + skip[s]);
}

template <class T>
CLONES void shares(Index n, const T* __restrict alpha, const T* __restrict beta,
                   const T* __restrict emitted, T loss, T* __restrict out) {
  for (Index s = 0; s < n; ++s) out[s] = ctc_share(alpha[s], beta[s], emitted[s], loss);
}

template <class T>
CLONES void probabilities(Index n, const T* __restrict log_probs, T factor, T* __restrict out) {
  for (Index c = 0; c < n; ++c) out[c] = exp(log_probs[c]) * factor;
}

// One example: its labels with the blanks, and the rows that the recursions need.
template <class T>
struct Example {
  const Shape& s;
  Index n, length, labels, states;
  Scratch<Index> classes;
  Scratch<T> skip, emitted, rows;  // rows: two of states + 4
  T* row[2];

  Example(const Shape& shape, Index example, const Index* targets, const Index* examples)
      : s(shape),
        n(example),
        length(examples[s.batch + n]),
        labels(examples[2 * s.batch + n]),
        states(2 * labels + 1),
        classes(std::size_t(states)),
        skip(std::size_t(states)),
        emitted(std::size_t(states)),
        rows(std::size_t(2 * (states + 4))),
        row{rows.data() + 2, rows.data() + states + 6} {
    std::fill_n(rows.data(), rows.size(), -kInfinity<T>);
    const Index* const target = targets + examples[n];
    for (Index i = 0; i < states; ++i)
      classes[std::size_t(i)] = i % 2 ? target[i / 2 * s.target_step] : s.blank;
  }
  // A blank between two labels may be left out unless they are the same.
  void allow_skips(Index by) {
    for (Index i = 0; i < states; ++i) {
      const Index from = i + 2 * by;
      const bool may = from >= 0 && from < states && classes[std::size_t(i)] != s.blank &&
                       classes[std::size_t(i)] != classes[std::size_t(from)];
      skip[std::size_t(i)] = may ? T(0) : -kInfinity<T>;
    }
  }
  const T* emit(const T* log_probs, Index t) {
    const T* const at = log_probs + (t * s.batch + n) * s.classes;
    for (Index i = 0; i < states; ++i) emitted[std::size_t(i)] = at[classes[std::size_t(i)]];
    return at;
  }
};

// Before anything is read by a label.
Index first_bad(const Shape& s, const Index* targets, const Index* examples) {
  for (Index n = 0; n < s.batch; ++n)
    for (Index i = 0; i < examples[2 * s.batch + n]; ++i) {
      const Index at = examples[n] + i * s.target_step;
      if (targets[at] < 0 || targets[at] >= s.classes) return at;
    }
  return -1;
}

template <class T>
T forward_one(const Shape& s, Index n, const T* log_probs, const Index* targets,
              const Index* examples, T* alpha) {
  Example<T> e(s, n, targets, examples);
  if (e.length == 0) return e.labels == 0 ? T(0) : kInfinity<T>;
  e.allow_skips(-1);
  T* last = e.row[0];
  T* now = e.row[1];
  for (Index t = 0; t < e.length; ++t, std::swap(last, now)) {
    e.emit(log_probs, t);
    if (t == 0)
      std::copy_n(e.emitted.data(), std::min<Index>(2, e.states), now);
    else
      step<T>(e.states, -1, last, e.skip.data(), e.emitted.data(), now);
    std::copy_n(now, e.states, alpha + (n * s.steps + t) * s.states);
    check_interrupt();
  }
  return -log_sum(last[e.states - 1], last[e.states - 2], -kInfinity<T>);
}

template <class T>
void backward_one(const Shape& s, Index n, T grad, const T* log_probs, const Index* targets,
                  const Index* examples, T loss, const T* alpha, bool zero_infinity, T* out) {
  Example<T> e(s, n, targets, examples);
  const auto row_of = [&](Index t) { return out + (t * s.batch + n) * s.classes; };
  const bool impossible = loss == kInfinity<T>;
  for (Index t = impossible ? 0 : e.length; t < s.steps; ++t)
    std::fill_n(row_of(t), s.classes, t < e.length && !zero_infinity ? kNaN<T> : T(0));
  if (impossible) return;
  e.allow_skips(1);
  Scratch<T> share(std::size_t(e.states));
  T* next = e.row[0];
  T* now = e.row[1];
  for (Index t = e.length - 1; t >= 0; --t, std::swap(next, now)) {
    const T* const at = e.emit(log_probs, t);
    if (t == e.length - 1)
      for (Index i = std::max<Index>(0, e.states - 2); i < e.states; ++i)
        now[i] = e.emitted[std::size_t(i)];
    else
      step<T>(e.states, 1, next, e.skip.data(), e.emitted.data(), now);
    shares<T>(e.states, alpha + (n * s.steps + t) * s.states, now, e.emitted.data(), loss,
              share.data());
    T* const to = row_of(t);
    probabilities<T>(s.classes, at, grad, to);
    for (Index i = 0; i < e.states; ++i)
      to[e.classes[std::size_t(i)]] -= share[std::size_t(i)] * grad;
    check_interrupt();
  }
}

template <class F>
void with_type(const View& v, F&& f) {
  v.dtype == DType::float64 ? f(Type<double>{}) : f(Type<float>{});
}
Index grain(const Shape& s) {
  return 1 + 20'000 / std::max<Index>(1, s.steps * (3 * s.states + s.classes));
}

Index forward(const Shape& s, const View& log_probs, const View& targets, const View& examples,
              const View& losses, const View& alpha) {
  const auto* const labels = targets.as<const Index>();
  const auto* const of = examples.as<const Index>();
  if (const Index bad = first_bad(s, labels, of); bad >= 0) return bad;
  with_type(log_probs, [&]<class T>(Type<T>) {
    parallel_for(s.batch, grain(s), [&](Index begin, Index end) {
      for (Index n = begin; n < end; ++n)
        losses.as<T>()[n] =
            forward_one<T>(s, n, log_probs.as<const T>(), labels, of, alpha.as<T>());
    });
  });
  return -1;
}

Index backward(const Shape& s, const View& grad, const View& log_probs, const View& targets,
               const View& examples, const View& losses, const View& alpha, bool zero_infinity,
               const View& grad_log_probs) {
  const auto* const labels = targets.as<const Index>();
  const auto* const of = examples.as<const Index>();
  if (const Index bad = first_bad(s, labels, of); bad >= 0) return bad;
  with_type(log_probs, [&]<class T>(Type<T>) {
    parallel_for(s.batch, grain(s), [&](Index begin, Index end) {
      for (Index n = begin; n < end; ++n)
        backward_one<T>(s, n, grad.as<const T>()[n], log_probs.as<const T>(), labels, of,
                        losses.as<const T>()[n], alpha.as<const T>(), zero_infinity,
                        grad_log_probs.as<T>());
    });
  });
  return -1;
}

}  // namespace

const CtcKernels cpu_ctc = {forward, backward};

}  // namespace rushlight
