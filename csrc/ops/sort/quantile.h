// Quantiles: elements at fractions of the sorted order. See quantile.cpp.
#pragma once
#include <string_view>

#include "ops/ops.h"

namespace rushlight {

// q: a scalar or tensor of fractions, whose dimension comes first in the result. name: "quantile",
// or "nanquantile", which leaves out what is NaN.
Tensor quantile(const char* name, const Tensor& input, const Input& q,
                std::optional<std::int64_t> dim, bool keepdim, std::string_view interpolation);

}  // namespace rushlight
