// Softmax over one dimension. All views are contiguous: (outer, dim, inner), one floating dtype.
#pragma once
#include "view.h"

namespace rushlight {

struct SoftmaxShape {
  std::int64_t outer, dim, inner;
};

struct SoftmaxKernels {
  // out = exp(x) / sum of exp(x) over dim; its logarithm where `logarithm`.
  void (*softmax)(const SoftmaxShape& s, const View& input, bool logarithm, const View& out);
  // From the forward's result: y * (g - sum(g * y)), or g - exp(y) * sum(g).
  void (*softmax_backward)(const SoftmaxShape& s, const View& grad, const View& output,
                           bool logarithm, const View& grad_input);
};

extern const SoftmaxKernels cpu_softmax;

}  // namespace rushlight
