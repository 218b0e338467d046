// Pooling over the last one to three dimensions of (n, c, in...) or (c, in...): `rank` of them.
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

// (sum of x^p over each window)^(1/p), p the norm type.
Tensor lp_pool(const char* name, int rank, const Tensor& input, Scalar norm_type,
               const PoolOptions& options);
// Maxima of windows drawn at random, and where they were; samples (n, c, rank), or drawn here.
std::tuple<Tensor, Tensor> fractional_max_pool(const char* name, int rank, const Tensor& input,
                                               const Shape& kernel, const Shape& size,
                                               const std::optional<Tensor>& samples);
// Zeros of the spatial size given, with input's values where `indices` say.
Tensor max_unpool(const char* name, int rank, const Tensor& input, const Tensor& indices,
                  const Shape& size);

}  // namespace rushlight
