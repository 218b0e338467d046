// Softmax and its logarithm over one dimension.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// With a dtype, the input is cast first.
Tensor softmax(const Tensor& input, std::int64_t dim, std::optional<DType> dtype = {});
Tensor log_softmax(const Tensor& input, std::int64_t dim, std::optional<DType> dtype = {});

}  // namespace rushlight
