// Losses of class indices. Note: a target outside [0, classes) that is not
// ignore_index is reported before anything is written.
#pragma once
#include "view.h"

namespace rushlight {

// input (n, classes, inner), target (n, inner) int64, weight (classes) in the input's dtype or
// null; losses (n, inner) in the dtype that is computed with. log_sums (2, n, inner): of each
// example the largest logit and log(sum(exp(x - largest))), apart, as their sum has not the digits
// of a small loss.
struct CrossEntropyShape {
  std::int64_t n, classes, inner;
  std::int64_t ignore_index = -100;
  double label_smoothing = 0;
};

struct CrossEntropyKernels {
  // The position of the first target out of range, or -1.
  std::int64_t (*check_targets)(const CrossEntropyShape& s, const View& target);
  // With p = softmax(input): losses = -(1 - smoothing) w[t] log p[t] - smoothing / classes *
  // sum of w log p; 0 where ignored. totals: the sum of losses and the sum of w[t], two values.
  void (*forward)(const CrossEntropyShape& s, const View& input, const View& target,
                  const View* weight, const View& losses, const View& log_sums, const View& totals);
  // grad: a factor for each loss, (n, inner) or one value.
  void (*backward)(const CrossEntropyShape& s, const View& grad, const View& input,
                   const View& target, const View* weight, const View& log_sums,
                   const View& grad_input);
  // The same on log-probabilities: losses = -w[t] * input[t].
  void (*nll)(const CrossEntropyShape& s, const View& input, const View& target, const View* weight,
              const View& losses, const View& totals);
  void (*nll_backward)(const CrossEntropyShape& s, const View& grad, const View& target,
                       const View* weight, const View& grad_input);
};

extern const CrossEntropyKernels cpu_cross_entropy;

}  // namespace rushlight
