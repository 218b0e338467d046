// What the products of matmul.cpp and linear_chain.cpp share: the calls of a device's kernels, and
// the history of a result.
#pragma once
#include <memory>

#include "kernels/matmul.h"
#include "ops/ops.h"

namespace rushlight {

// out = alpha * left right + beta * out. `column`: vectors stand for matrices of one column.
void run_product(const Tensor& left, const Tensor& right, const Tensor& out, Scalar alpha,
                 Scalar beta, bool column = false);

// Products that do more in the same kernel (kernels/matmul.h), of matrices. False, and nothing of
// use done, where the device has none for these operands.
bool has_fused_products(Device d);
// Whether they may serve for beta * input + alpha * left right, of so many columns: input is a
// bias.
bool adds_bias(const Tensor& input, const Tensor& left, std::int64_t columns, Scalar beta,
               Scalar alpha);
bool run_with_bias(const Tensor& left, const Tensor& right, const Tensor& bias,
                   Activation activation, const Tensor& kept, const Tensor& out);
bool run_with_sums(const Tensor& left, const Tensor& right, const Tensor& sums, const Tensor& out);
bool run_with_slope(const Tensor& left, const Tensor& right, Activation activation,
                    const Tensor& kept, const Tensor& out);

inline Tensor scaled(const Tensor& t, Scalar by) { return by.as_double() == 1 ? t : mul(t, by); }

// The activation between a layer and the product recorded, which has that activation's result as
// its left operand: its gradient goes on to what was activated, times the slope.
struct Slope {
  Activation activation;
  Tensor before;  // what was activated, for its history
  Saved kept;  // what the forward kernel left for the backward one
  Saved known;  // relu: the result; gelu: what was activated
};

// beta * input + alpha * left right.
Tensor record_sum(const char* name, Tensor out, const Tensor& input, const Tensor& left,
                  const Tensor& right, Scalar beta, Scalar alpha,
                  std::shared_ptr<const Slope> slope = {});
// left right, of matrices or batches of them.
Tensor record_product(const char* name, Tensor out, const Tensor& left, const Tensor& right);

}  // namespace rushlight
