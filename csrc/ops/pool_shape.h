// What pooling accepts, in torch's words.
#pragma once
#include "kernels/pool.h"
#include "ops/pool.h"

namespace rushlight {

struct PooledShape {
  PoolShape pool;
  Shape sizes;  // of the result
};
PooledShape pool_shape(const char* name, int rank, const Tensor& input, const PoolOptions& options,
                       bool takes_max);
PooledShape adaptive_shape(const char* name, int rank, const Tensor& input, const Shape& size);

}  // namespace rushlight
