// Sliding windows as columns and back, and moves between channels and space.
#pragma once
#include "ops/ops.h"

namespace rushlight {

struct FoldOptions {
  Shape kernel, dilation, padding, stride;  // one entry for both axes, or two
};
// (n, c, h, w) to (n, c * kh * kw, windows); or without n.
Tensor im2col(const Tensor& input, const FoldOptions& options);
Tensor col2im(const Tensor& input, const Shape& output_size, const FoldOptions& options);

Tensor pixel_shuffle(const Tensor& input, std::int64_t upscale_factor);
Tensor pixel_unshuffle(const Tensor& input, std::int64_t downscale_factor);
Tensor channel_shuffle(const Tensor& input, std::int64_t groups);

}  // namespace rushlight
