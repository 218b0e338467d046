// Covariances and correlations of variables in rows. See covariance.cpp.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// The divisor is the number of observations less `correction`. fweights says how often each of them
// occurs, aweights how important it is.
Tensor cov(const Tensor& input, std::int64_t correction, const std::optional<Tensor>& fweights,
           const std::optional<Tensor>& aweights);
Tensor corrcoef(const Tensor& input);

}  // namespace rushlight
