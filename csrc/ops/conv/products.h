// The three products of a convolution. Each is linear in both operands, and the gradients of each
// are the other two: so gradients of any order are built of these.
#pragma once
#include "kernels/conv.h"
#include "ops/ops.h"

namespace rushlight::conv {

// `sizes`: of the result, with n and channels. Geometry that all three share.
Tensor forward(const ConvShape& s, const Tensor& input, const Tensor& weight, const Tensor& bias,
               const Shape& sizes);
Tensor grad_input(const ConvShape& s, const Tensor& grad, const Tensor& weight, const Tensor& bias,
                  const Shape& sizes);
Tensor grad_weight(const ConvShape& s, const Tensor& input, const Tensor& grad, const Shape& sizes);

}  // namespace rushlight::conv
