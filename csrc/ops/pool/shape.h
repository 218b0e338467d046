// What pooling accepts, in torch's words.
#pragma once
#include "autograd/showing.h"
#include "kernels/pool.h"
#include "pool.h"

namespace rushlight {

struct PooledShape {
  PoolShape pool;
  Shape sizes;  // of the result
};
PooledShape pool_shape(const char* name, int rank, const Tensor& input, const PoolOptions& options,
                       bool takes_max);
PooledShape adaptive_shape(const char* name, int rank, const Tensor& input, const Shape& size);

// The same of images that lie as rows of channels: windows of one channel along a third dimension.
PoolShape with_channels_inside(const PoolShape& s, std::int64_t channels);
// Whether a kernel takes this image, or these indices into it, so.
bool pools_inside(const PoolShape& s, const Tensor& image);

// RuntimeError where an adaptive pooling without results is to have a gradient.
void check_some_result(const char* pooling, bool of_volumes, const Tensor& grad);

// Of one dtype's kernel: NotImplementedError for integers.
void refuse_integers(const Tensor& input, const char* kernel);

// The windows as nodes show them; a stride that was not given is empty.
struct ShownOptions {
  int rank = 0;
  OfDimensions kernel{}, stride{}, padding{}, dilation{};
  bool ceil_mode = false;
};
inline ShownOptions shown(const PoolShape& s, int rank, const PoolOptions& options) {
  return {rank,
          of_dimensions(s.kernel, rank),
          of_dimensions(s.stride, options.stride.rank ? rank : 0),
          of_dimensions(s.padding, rank),
          of_dimensions(s.dilation, rank),
          options.ceil_mode};
}

inline double nanoseconds(const PoolShape& s) {
  return double(s.planes) * (double(s.plane()) + double(s.outputs())) * 0.3;
}
inline std::int64_t inputs_of(const PoolShape& s) { return s.planes * s.plane(); }
inline std::int64_t results_of(const PoolShape& s) { return s.planes * s.outputs(); }

}  // namespace rushlight
