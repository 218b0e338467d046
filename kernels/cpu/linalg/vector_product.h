// Products of a matrix by a vector that read the matrix once as it lies: of 16-bit floats, which
// BLAS would take from a copy in float, and of two vectors.
#pragma once
#include "kernels/dtype.h"
#include "strided_matrix.h"

namespace rushlight {

// The sum of a[i * a_step] * b[i * b_step].
template <class T>
T strided_dot(std::int64_t n, const T* a, std::int64_t a_step, const T* b, std::int64_t b_step);

// out (m x 1) = alpha * left * right (k x 1) + beta * out, on the pool; out is not read where beta
// is 0. False where the elements of left lie side by side neither in rows nor in columns.
template <class S>
bool vector_product(const StridedMatrix<const S>& left, const StridedMatrix<const S>& right,
                    const StridedMatrix<S>& out, float alpha, float beta);

extern template float strided_dot(std::int64_t, const float*, std::int64_t, const float*,
                                  std::int64_t);
extern template double strided_dot(std::int64_t, const double*, std::int64_t, const double*,
                                   std::int64_t);
extern template bool vector_product(const StridedMatrix<const bfloat16>&,
                                    const StridedMatrix<const bfloat16>&,
                                    const StridedMatrix<bfloat16>&, float, float);
extern template bool vector_product(const StridedMatrix<const float16>&,
                                    const StridedMatrix<const float16>&,
                                    const StridedMatrix<float16>&, float, float);

}  // namespace rushlight
