// See attention_formula.h.
#include "ops/attention_formula.h"

#include <limits>

#include "ops/linalg/matmul.h"
#include "ops/pointwise/pointwise.h"
#include "ops/softmax.h"
#include "ops/triangular.h"

namespace rushlight::attention {
namespace {

Tensor where_or(const Tensor& condition, const Tensor& t, double otherwise) {
  return where(condition, as_input(t), as_input(Scalar(otherwise)));
}

// (batch, heads, ...) summed to (batch, kv_heads, ...)
Tensor sum_groups(const Tensor& t, const AttentionShape& s) {
  if (s.heads == s.kv_heads) return t;
  const Shape grouped{s.batch, s.kv_heads, s.heads / s.kv_heads, t.size(2), t.size(3)};
  return sum(reshape(t, grouped), Shape{2}, false);
}

}  // namespace

Tensor repeat_heads(const Tensor& t, std::int64_t times) {
  if (times == 1) return t;
  const int at = t.dim() - 2;
  const Tensor one = unsqueeze(t, at);
  Shape wide = one.shape(), flat = t.shape();
  wide[at] = times;
  flat[at - 1] = checked_mul(flat[at - 1], times);
  return reshape(expand(one, wide), flat);
}

FormulaGradients gradients(const FormulaInputs& f) {
  const AttentionShape& s = f.shape;
  const DType dtype = f.q.dtype(), computed = is_reduced(dtype) ? DType::float32 : dtype;
  const Tensor q = to(f.q, computed), g = to(f.grad, computed);
  const Tensor k = repeat_heads(to(f.k, computed), s.heads / s.kv_heads);
  const Tensor v = repeat_heads(to(f.v, computed), s.heads / s.kv_heads);
  constexpr double never = -std::numeric_limits<double>::infinity();
  Tensor logits = mul(matmul(q, transpose(k, 2, 3)), Scalar(s.scale));
  if (f.mask)
    logits = f.mask.dtype() == DType::boolean ? where_or(f.mask, logits, never)
                                              : add(logits, to(f.mask, computed));
  if (s.causal)
    logits = where_or(tril(full({s.l, s.s}, Scalar(true), DType::boolean, q.device()), 0), logits,
                      never);
  // Rows of nothing but -inf are taken out before softmax, which would make them NaN, and after.
  const Tensor weights = where_or(f.alive, softmax(where_or(f.alive, logits, 0), 3, {}), 0);
  const Tensor dropped = f.noise ? mul(weights, f.noise) : weights;
  Tensor of_weights = matmul(g, transpose(v, 2, 3));
  if (f.noise) of_weights = mul(of_weights, f.noise);
  const Tensor of_scores =
      mul(weights, sub(of_weights, sum(mul(of_weights, weights), Shape{3}, true)));
  const Tensor scaled = mul(of_scores, Scalar(s.scale));
  FormulaGradients result;
  result.q = to(matmul(scaled, k), dtype);
  result.k = to(sum_groups(matmul(transpose(scaled, 2, 3), q), s), dtype);
  result.v = to(sum_groups(matmul(transpose(dropped, 2, 3), g), s), dtype);
  if (f.mask && is_floating(f.mask.dtype()))
    result.mask = to(sum_to(of_scores, f.mask.shape()), f.mask.dtype());
  return result;
}

}  // namespace rushlight::attention
