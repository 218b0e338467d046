// Matrix products. Note: operands may have any strides and overlap among themselves
// (expanded batches), but `out` overlaps nothing, and with beta == 0 it is not read.
#pragma once
#include <string>

#include "view.h"

namespace rushlight {

struct MatmulKernels {
  // out[b][m][n] = alpha * sum over k of left[b][m][k] * right[b][k][n] + beta * out[b][m][n].
  // All of rank 3 and one dtype: floating (16-bit ones are summed in float) or integral without
  // bool (sums wrap).
  void (*matmul)(const View& left, const View& right, const View& out, Scalar alpha, Scalar beta);
  // out = left right + bias[n] in each column n, of matrices (a batch of one), in one kernel;
  // floating. False where there is none for such operands: then `out` is unset. Null: none at all.
  bool (*matmul_bias)(const View& left, const View& right, const View& bias,
                      const View& out) = nullptr;
  std::string (*library)() = nullptr;  // whose products they are, in words
};

extern const MatmulKernels cpu_matmul;

}  // namespace rushlight
