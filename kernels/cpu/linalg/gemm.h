// One matrix product in the calling thread, on row-major memory; of floats and doubles by OpenBLAS
// where its library lies beside ours, else by loops of our own. Matmul and convolution build on it.
#pragma once
#include <concepts>
#include <cstdint>

#include "integer_product.h"

namespace rushlight {

// A matrix as BLAS describes it: rows of `ld` elements, or read transposed.
template <class T>
struct Matrix {
  T* data;
  std::int64_t ld;
  bool transposed = false;

  Matrix block(std::int64_t row, std::int64_t col) const {
    return {data + (transposed ? col * ld + row : row * ld + col), ld, transposed};
  }
};

template <class T>
StridedMatrix<T> strided(Matrix<T> m, std::int64_t rows, std::int64_t cols) {
  return {m.data, rows, cols, m.transposed ? 1 : m.ld, m.transposed ? m.ld : 1};
}

// out (m x n) = alpha * left (m x k) * right (k x n) + beta * out; out is not transposed, and not
// read when beta == 0. Sizes and `ld` fit an int: callers split or pack what does not.
template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Matrix<const T> left,
          Matrix<const T> right, T beta, Matrix<T> out);
extern template void gemm(std::int64_t, std::int64_t, std::int64_t, float, Matrix<const float>,
                          Matrix<const float>, float, Matrix<float>);
extern template void gemm(std::int64_t, std::int64_t, std::int64_t, double, Matrix<const double>,
                          Matrix<const double>, double, Matrix<double>);
// Of integers of every width: sums wrap.
template <std::integral T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Matrix<const T> left,
          Matrix<const T> right, T beta, Matrix<T> out) {
  integer_product<T>(strided(left, m, k), strided(right, k, n), strided(out, m, n), alpha, beta);
}

}  // namespace rushlight
