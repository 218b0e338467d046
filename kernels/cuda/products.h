// Matrix products as matmul.cu uses them: cuBLASLt's, where it is there (cublaslt.cu).
#pragma once
#include "../view.h"

namespace rushlight::gpu {

// out = alpha * left right + beta * out, plus bias[n] in column n if there is one; views as
// MatmulKernels has them, floating, none empty. False where the library is absent or has nothing
// for such operands: then nothing was written.
bool multiply_by_library(const View& left, const View& right, const View* bias, const View& out,
                         double alpha, double beta);

}  // namespace rushlight::gpu
