// Connectionist temporal classification (Graves et al., 2006), in log space. The labels of a target
// lie between blanks: 2 * length + 1 states. alpha[t][s] is the log-probability of all paths to
// state s at step t, beta[t][s] that of all paths from there to the end, step t counted in both.
// The gradient is torch's: that of the logits before the log_softmax.
#pragma once
#include "math/exponential.h"
#include "view.h"

namespace rushlight {

struct CtcShape {
  std::int64_t steps, batch, classes, blank;
  std::int64_t states;  // 2 * the longest target + 1
  std::int64_t target_step;  // elements from one label to the next
};
// log_probs (steps, batch, classes), alpha (batch, steps, states) and losses (batch) are dense, of
// one dtype, float32 or float64. `examples` (3, batch) int64: where each target begins, the length
// of each input, the length of each target.
struct CtcKernels {
  // -1, or where the first label is that is no class; then nothing is written.
  std::int64_t (*forward)(const CtcShape& s, const View& log_probs, const View& targets,
                          const View& examples, const View& losses, const View& alpha);
  // grad (batch). A loss that is infinite gives zeros with zero_infinity, else NaN.
  std::int64_t (*backward)(const CtcShape& s, const View& grad, const View& log_probs,
                           const View& targets, const View& examples, const View& losses,
                           const View& alpha, bool zero_infinity, const View& grad_log_probs);
};

// log(exp(a) + exp(b) + exp(c)), -inf where all are.
template <class T>
HOST_DEVICE inline T log_sum(T a, T b, T c) {
  const T ab = a > b ? a : b, top = ab > c ? ab : c;
  const T shift = top == -kInfinity<T> ? T(0) : top;
  return shift + log(exp(a - shift) + exp(b - shift) + exp(c - shift));
}

// The probability of a state at a step, given the target: 0 where no path goes through it.
template <class T>
HOST_DEVICE inline T ctc_share(T alpha, T beta, T emitted, T loss) {
  const T both = alpha + beta;
  return both == -kInfinity<T> ? T(0) : exp(both - emitted + loss);
}

extern const CtcKernels cpu_ctc;

}  // namespace rushlight
