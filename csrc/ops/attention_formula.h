// The gradients of attention written with ops, with the whole matrix of weights: what
// create_graph=True uses in place of the fused kernel.
#pragma once
#include "kernels/attention.h"
#include "ops/ops.h"

namespace rushlight::attention {

struct FormulaInputs {
  Tensor grad, q, k, v;  // of rank 4, as kernels/attention.h has them
  Tensor mask;           // may be undefined
  Tensor alive;          // bool (batch, heads, l, 1): queries with something to attend to
  Tensor noise;          // (batch, heads, l, s), or undefined
  AttentionShape shape;
};
struct FormulaGradients {
  Tensor q, k, v, mask;  // mask: of the mask's shape, where it is floating
};
FormulaGradients gradients(const FormulaInputs& f);

// Each head of dimension -3 `times` times, one beside the other.
Tensor repeat_heads(const Tensor& t, std::int64_t times);

}  // namespace rushlight::attention
