// Products of bfloat16 in the processor's tiles (amx.h).
#pragma once
#include "bfloat16_sums.h"
#include "kernels/dtype.h"
#include "strided_matrix.h"

namespace rushlight {

// As bfloat16_product; false where the processor has no tiles or they do not pay.
bool amx_product(const StridedMatrix<const bfloat16>& left,
                 const StridedMatrix<const bfloat16>& right, const Bfloat16Output& output);

}  // namespace rushlight
