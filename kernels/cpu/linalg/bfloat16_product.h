// Products of bfloat16 by the processor's own instructions for them (AVX512-BF16), which multiply
// pairs and add them up in float.
#pragma once
#include "bfloat16_sums.h"
#include "kernels/dtype.h"
#include "strided_matrix.h"

namespace rushlight {

// Whether the processor has the instructions, and may use them.
bool multiplies_bfloat16();

// The sums of `output` are left * right, on the pool. False where the processor lacks the
// instructions or the product is too small: then nothing was done.
bool bfloat16_product(const StridedMatrix<const bfloat16>& left,
                      const StridedMatrix<const bfloat16>& right, const Bfloat16Output& output);

// sums[4] = four rows of k elements, `step` apart, each times v; false where the processor lacks
// the instructions.
bool bfloat16_dots(const bfloat16* rows, std::int64_t step, const bfloat16* v, std::int64_t k,
                   float* sums);

}  // namespace rushlight
