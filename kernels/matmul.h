// Matrix products. A changer must know: operands may have any strides and overlap among themselves
// (expanded batches), but `out` overlaps nothing, and with beta == 0 it is not read.
#pragma once
#include "view.h"

namespace rushlight {

struct LinalgKernels;

enum class Activation : unsigned char { none, relu, gelu };  // gelu: with tanh

struct MatmulKernels {
  // out[b][m][n] = alpha * sum over k of left[b][m][k] * right[b][k][n] + beta * out[b][m][n].
  // All of rank 3 and one dtype: floating (16-bit ones are summed in float) or integral without
  // bool (sums wrap).
  void (*matmul)(const View& left, const View& right, const View& out, Scalar alpha, Scalar beta);
  const LinalgKernels* linalg;  // factorisations
  // A product of matrices (a batch of one) and more in one kernel; floating. False where there is
  // none for such operands: then nothing is to be used. Null: none at all.
  // out = f(left right + bias[n] in each column n), f the activation. `kept`, unless null, gets
  // what matmul_slope wants to know: of relu bytes (m, 16 * ceil(n / 128)), of gelu what it was
  // applied to, (m, 8 * ceil(n / 8)) elements of which the first n of a row are used.
  bool (*matmul_bias)(const View& left, const View& right, const View& bias, Activation activation,
                      const View* kept, const View& out) = nullptr;
  // out = left right * the activation's slope where `kept` was written
  bool (*matmul_slope)(const View& left, const View& right, Activation activation, const View& kept,
                       const View& out) = nullptr;
  // out = left right; sums[m] = sum of left[m][k] over k
  bool (*matmul_sums)(const View& left, const View& right, const View& sums,
                      const View& out) = nullptr;
};

extern const MatmulKernels cpu_matmul;

}  // namespace rushlight
