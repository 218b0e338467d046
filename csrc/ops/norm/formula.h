// The gradients of normalisations written with ops: what create_graph=True uses in place of the
// fused kernels.
#pragma once
#include "ops/ops.h"

namespace rushlight::norm {

struct FormulaInputs {
  Tensor grad, input, weight;  // shaped alike but for sizes of 1; weight may be undefined
  Shape dims;                  // over which the statistics go
  double eps;
  bool centered = true;        // false: the mean counts as 0
};
struct FormulaGradients {
  Tensor input, normalized;  // normalized = (input - mean) * invstd, for the weight's gradient
};
FormulaGradients gradients(const FormulaInputs& f);

}  // namespace rushlight::norm
