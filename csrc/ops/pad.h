// Tensors extended, or with negative padding cut, at the edges of dimensions.
#pragma once
#include "ops/ops.h"

namespace rushlight {

// input (..., s) to (..., s + left + right): `pad` is (left, right) of the last dimension, then of
// the one before it, and so on; negative numbers cut elements away.
Tensor constant_pad_nd(const Tensor& input, const std::vector<std::int64_t>& pad, Scalar value);
// The same with elements of input: those next to the edge in opposite order, the outermost one, or
// those of the other end.
enum class PadMode : unsigned char { reflect, replicate, circular };
Tensor pad_edges(const Tensor& input, const std::vector<std::int64_t>& pad, PadMode mode);

}  // namespace rushlight
