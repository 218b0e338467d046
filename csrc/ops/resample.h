// interpolate() but for how Python gives its sizes.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// input (n, c, in...) of one to three spatial dimensions; `factors` has one entry for each, or
// none. Modes: "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic", and
// "lanczos" with antialias.
Tensor resample(const Tensor& input, const Shape& size, const std::vector<double>& factors,
                std::string_view mode, bool align_corners, bool antialias);

}  // namespace rushlight
