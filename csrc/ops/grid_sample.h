// Sampling an input at the positions of a grid.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// mode: "bilinear", "nearest" or "bicubic"; padding_mode: "zeros", "border" or "reflection".
Tensor grid_sample(const Tensor& input, const Tensor& grid, std::string_view mode,
                   std::string_view padding_mode, bool align_corners);

// theta (n, 2, 3) or (n, 3, 4); size (n, c, h, w) or (n, c, d, h, w) of grid_sample's result.
Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners);

}  // namespace rushlight
