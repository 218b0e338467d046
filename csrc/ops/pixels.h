// Images to inputs of a network: bytes to floats, and channels to mean 0.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// The first channels of an image's bytes (height, width, stored) as floats (channels, height,
// width) in [0, 1]: each byte / 255.
Tensor scaled_pixels(const Tensor& pixels, std::int64_t channels);

// (x - mean) / std of images (..., channels, height, width), in one pass where no gradient is
// recorded; mean and std are (channels, 1, 1).
Tensor normalized_channels(const Tensor& x, const Tensor& mean, const Tensor& std);

}  // namespace rushlight
