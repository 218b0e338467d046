// Products of matrices of integers, in every width; sums wrap.
#pragma once
#include "strided_matrix.h"

namespace rushlight {

// out = alpha * left * right + beta * out, on the pool; out is not read where beta is 0.
template <class T>
void integer_product(StridedMatrix<const T> left, StridedMatrix<const T> right,
                     StridedMatrix<T> out, T alpha, T beta);

}  // namespace rushlight
