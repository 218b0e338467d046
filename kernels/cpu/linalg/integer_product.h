// Products of matrices of whole numbers, in every width; sums wrap.
#pragma once
#include "strided_matrix.h"

namespace rushlight {

// out = alpha * left * right + beta * out, on the pool; out is not read where beta is 0.
template <class T>
void integer_product(Strided<const T> left, Strided<const T> right, Strided<T> out, T alpha,
                     T beta);

}  // namespace rushlight
