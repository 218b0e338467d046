// Matrix products as matmul.cu uses them: cuBLASLt's, where it is there (cublaslt.cu).
#pragma once
#include "../view.h"

namespace rushlight::gpu {

// What is done besides the product, with a vector: added to each row of the result, or written, the
// sums of the left operand's rows.
enum class Besides { nothing, bias, row_sums };

// out = alpha * left right + beta * out, and that; views as MatmulKernels has them, floating, none
// empty. False where the library is absent or has nothing for such operands.
bool multiply_by_library(const View& left, const View& right, const View& out, double alpha,
                         double beta, Besides besides, const View* vector);

}  // namespace rushlight::gpu
