// Matrix products as matmul.cu uses them: cuBLASLt's, where it is there (cublaslt.cpp).
#pragma once
#include "kernels/view.h"

namespace rushlight::gpu {

// out = alpha * left right + beta * out, plus bias[n] in each column n, unless it is null; views as
// MatmulKernels has them, floating, none empty. False where the library is absent or has nothing
// for such operands.
bool multiply_by_library(const View& left, const View& right, const View& out, double alpha,
                         double beta, const View* bias = nullptr);

}  // namespace rushlight::gpu
