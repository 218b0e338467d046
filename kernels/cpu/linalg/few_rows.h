// Products of few rows by few columns over any depth: `right`, in rows, is read once, where it
// lies. For AVX-512.
#pragma once
#include "strided_matrix.h"

namespace rushlight {

// out = alpha * left * right + beta * out. False where the shapes or the processor
// are others: then nothing was done.
template <class T>
bool few_rows(const StridedMatrix<const T>& left, const StridedMatrix<const T>& right,
              const StridedMatrix<T>& out, T alpha, T beta);
extern template bool few_rows(const StridedMatrix<const float>&, const StridedMatrix<const float>&,
                              const StridedMatrix<float>&, float, float);
extern template bool few_rows(const StridedMatrix<const double>&,
                              const StridedMatrix<const double>&, const StridedMatrix<double>&,
                              double, double);

}  // namespace rushlight
