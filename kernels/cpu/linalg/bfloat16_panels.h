// Operands of products of bfloat16, by pairs of neighbours along the depth.
#pragma once
#include "kernels/dtype.h"
#include "strided_matrix.h"

namespace rushlight {

using Bfloat16Pair = std::uint32_t;  // the first in the low half

inline constexpr std::int64_t kPairColumns = 32;  // of a panel

// Rows [first, last) of `m` as rows of `pairs`, which may be more than it has: zeros are appended.
void pack_pairs(const StridedMatrix<const bfloat16>& m, std::int64_t first, std::int64_t last,
                std::int64_t pairs, Bfloat16Pair* to);

// Panels [first, last) of a matrix whose transpose is given: each has 32 columns as [pair][32], and
// zeros beyond the edges.
void pack_panels(const StridedMatrix<const bfloat16>& transposed, std::int64_t first,
                 std::int64_t last, std::int64_t pairs, Bfloat16Pair* to);

}  // namespace rushlight
