// Sampling an input at the positions of a grid.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// mode: "bilinear", "nearest" or "bicubic"; padding_mode: "zeros", "border" or "reflection".
Tensor grid_sample(const Tensor& input, const Tensor& grid, std::string_view mode,
                   std::string_view padding_mode, bool align_corners);

}  // namespace rushlight
