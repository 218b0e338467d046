// Matrix products as matmul.cu uses them: cuBLASLt's, where it is there (cublaslt.cu).
#pragma once
#include "kernels/matmul.h"

namespace rushlight::gpu {

// What is done besides the product, in its kernel.
enum class Besides {
  nothing,
  bias,  // the vector is added to each row, then the activation; its traces are kept
  slope,  // times the activation's slope, from what was kept
  row_sums  // the vector gets the sums of the left operand's rows
};
struct More {
  Besides besides = Besides::nothing;
  const View* vector = nullptr;
  Activation activation = Activation::none;
  const View* kept = nullptr;
  bool exact = false;  // whatever the switches say of float32
};

// out = alpha * left right + beta * out, and more; views as MatmulKernels has them, floating, none
// empty. False where the library is absent or has nothing for such operands.
bool multiply_by_library(const View& left, const View& right, const View& out, double alpha,
                         double beta, const More& more = {});

// MatmulKernels' matmul with every bit of float32: what a solution is made of.
void multiply_exactly(const View& left, const View& right, const View& out, double alpha,
                      double beta);

}  // namespace rushlight::gpu
