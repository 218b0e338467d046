// constant_pad_nd: tensors extended, or with negative padding cut, at the edges of dimensions.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// input (..., s) to (..., s + left + right): `pad` is (left, right) of the last dimension, then of
// the one before it, and so on; negative numbers cut elements away.
Tensor constant_pad_nd(const Tensor& input, const std::vector<std::int64_t>& pad, Scalar value);

}  // namespace rushlight
