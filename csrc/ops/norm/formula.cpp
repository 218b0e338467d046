// See norm_formula.h.
#include "formula.h"

#include "ops/pointwise/pointwise.h"

namespace rushlight::norm {

FormulaGradients gradients(const FormulaInputs& f) {
  double count = 1;
  for (const std::int64_t d : f.dims) count *= double(f.input.size(d));
  const auto mean = [&](const Tensor& t) { return mul(sum(t, f.dims, true), Scalar(1 / count)); };
  const Tensor centered = f.centered ? sub(f.input, mean(f.input)) : f.input;
  const Tensor variance = mean(mul(centered, centered));
  const Tensor invstd = apply<Rsqrt>(apply<Add>(variance, Scalar(f.eps)));
  const Tensor normalized = mul(centered, invstd);
  const Tensor g = f.weight ? mul(f.grad, f.weight) : f.grad;
  const Tensor along = mul(normalized, mean(mul(g, normalized)));
  const Tensor inner = sub(f.centered ? sub(g, mean(g)) : g, along);
  return {mul(invstd, inner), normalized};
}

}  // namespace rushlight::norm
