// Products of floats and doubles by a register tile of AVX-512. On Intel's processors it is faster
// than OpenBLAS's kernels: of squares by a tenth, of a few rows by half (docs/benchmarks.md).
#pragma once
#include "strided_matrix.h"

namespace rushlight {

// out = alpha * left * right + beta * out, over the pool; `out` is not read when beta is 0. False
// where the processor is another one, or the operands or the result have to be copied first.
template <class T>
bool tile_gemm(const StridedMatrix<const T>& left, const StridedMatrix<const T>& right,
               const StridedMatrix<T>& out, T alpha, T beta);
extern template bool tile_gemm(const StridedMatrix<const float>&, const StridedMatrix<const float>&,
                               const StridedMatrix<float>&, float, float);
extern template bool tile_gemm(const StridedMatrix<const double>&,
                               const StridedMatrix<const double>&, const StridedMatrix<double>&,
                               double, double);

}  // namespace rushlight
