// Distances between rows by p-norms.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// x1 (..., n, d), x2 (..., m, d), batches broadcast; out (..., n, m)
Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::string_view compute_mode);
Tensor pdist(const Tensor& input, double p);  // input (n, d); out (n (n - 1) / 2)

}  // namespace rushlight
