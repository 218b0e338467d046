// What the products of matmul.cpp share: the calls of a device's kernels, and the history of a
// result.
#pragma once
#include "kernels/matmul.h"
#include "ops/ops.h"

namespace rushlight {

// out = alpha * left right + beta * out. `column`: vectors are matrices of one column.
void run_product(const Tensor& left, const Tensor& right, const Tensor& out, Scalar alpha,
                 Scalar beta, bool column = false);
// out = left right + bias in one kernel, of matrices. False, and nothing of use done, where the
// device has none for these operands.
bool run_with_bias(const Tensor& left, const Tensor& right, const Tensor& bias, const Tensor& out);

inline Tensor scaled(const Tensor& t, Scalar by) { return by.as_double() == 1 ? t : mul(t, by); }

// beta * input + alpha * left right.
Tensor record_sum(const char* name, Tensor out, const Tensor& input, const Tensor& left,
                  const Tensor& right, Scalar beta, Scalar alpha);
// left right, of matrices or batches of them.
Tensor record_product(const char* name, Tensor out, const Tensor& left, const Tensor& right);

}  // namespace rushlight
