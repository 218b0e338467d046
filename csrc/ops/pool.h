// Pooling over the last one or two dimensions of (n, c, in...) or (c, in...).
#pragma once
#include "ops/ops.h"

namespace rushlight {

struct PoolOptions {
  Shape kernel, stride, padding{0}, dilation{1};  // one entry for all; no stride: the kernel's
  bool ceil_mode = false;
  bool count_include_pad = true;
  std::optional<std::int64_t> divisor;
};

Tensor max_pool(const char* name, int rank, const Tensor& input, const PoolOptions& options);
// Also where each maximum was: positions in a plane, int64.
std::tuple<Tensor, Tensor> max_pool_with_indices(const char* name, int rank, const Tensor& input,
                                                 const PoolOptions& options);
Tensor avg_pool(const char* name, int rank, const Tensor& input, const PoolOptions& options);
// Windows chosen so that the result has `size`.
Tensor adaptive_avg_pool(const char* name, int rank, const Tensor& input, const Shape& size);
std::tuple<Tensor, Tensor> adaptive_max_pool(const char* name, int rank, const Tensor& input,
                                             const Shape& size);

}  // namespace rushlight
