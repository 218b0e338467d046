// Matrices and rows of a batch, as LAPACK sees them.
#pragma once
#include <algorithm>
#include <complex>

#include "kernels/parallel.h"
#include "kernels/view.h"
#include "triangles.h"

namespace rushlight {

template <class T>
Columns<T> matrix(const View& v, std::int64_t i) {
  return {v.as<T>() + i * v.sizes[1] * v.sizes[2], int(v.sizes[1]), int(v.sizes[2]),
          std::max(int(v.sizes[1]), 1)};
}
template <class T>
T* row(const View& v, std::int64_t i) {
  return v.as<T>() + i * v.sizes[1];
}

// f(type, index) for each matrix of the batch.
template <class F>
void each(const View& a, F&& f) {
  for (std::int64_t i = 0; i < a.sizes[0]; ++i) {
    switch (a.dtype) {
      case DType::complex128: f(std::complex<double>(), i); break;
      case DType::complex64: f(std::complex<float>(), i); break;
      case DType::float64: f(double(), i); break;
      default: f(float(), i);
    }
    check_interrupt();
  }
}

}  // namespace rushlight
