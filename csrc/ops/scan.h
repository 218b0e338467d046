// Running reductions along one dimension; out (as input). Integers are added up in int64.
#pragma once
#include "ops/reduce/reduce.h"

namespace rushlight {

Tensor cumsum(const Tensor& input, std::int64_t dim, OptionalDtype dtype = {});
Tensor cumprod(const Tensor& input, std::int64_t dim, OptionalDtype dtype = {});
Tensor logcumsumexp(const Tensor& input, std::int64_t dim);
TensorPair cummax(const Tensor& input, std::int64_t dim);  // the last index among equals
TensorPair cummin(const Tensor& input, std::int64_t dim);

}  // namespace rushlight
