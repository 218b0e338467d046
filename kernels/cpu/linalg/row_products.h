// Products of all rows of one matrix by all rows of another one, as a linear layer has them of a
// small batch: nothing is copied, the lanes run along the rows. For AVX-512.
#pragma once
#include "strided_matrix.h"

namespace rushlight {

// out[i][j] = alpha * (row i of left) . (row j of right) + beta * out[i][j]; the elements of a row
// lie next to each other, in all three.
template <class T>
void row_products(const StridedMatrix<const T>& left, const StridedMatrix<const T>& right,
                  const StridedMatrix<T>& out, T alpha, T beta);
extern template void row_products(const StridedMatrix<const float>&,
                                  const StridedMatrix<const float>&, const StridedMatrix<float>&,
                                  float, float);
extern template void row_products(const StridedMatrix<const double>&,
                                  const StridedMatrix<const double>&, const StridedMatrix<double>&,
                                  double, double);

}  // namespace rushlight
