// Products of floats and doubles by a register tile of AVX-512. It is faster than OpenBLAS's
// kernels: of squares by a tenth, of a few rows by half, on Intel's processors and AMD's
// (docs/benchmarks.md).
#pragma once
#include "strided_matrix.h"

namespace rushlight {

// The sums of `output` are left * right, over the pool. False where the processor has none,
// or the operands or the result have to be copied first: then nothing was done.
template <class T>
bool tile_gemm(const StridedMatrix<const T>& left, const StridedMatrix<const T>& right,
               const ProductOutput<T>& output);
extern template bool tile_gemm(const StridedMatrix<const float>&, const StridedMatrix<const float>&,
                               const ProductOutput<float>&);
extern template bool tile_gemm(const StridedMatrix<const double>&,
                               const StridedMatrix<const double>&, const ProductOutput<double>&);

}  // namespace rushlight
