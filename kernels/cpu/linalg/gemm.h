// One matrix product in the calling thread, on row-major memory of floats, doubles or 64-bit words;
// OpenBLAS where its library lies beside ours, else loops of our own. Matmul and convolution build
// on it.
#pragma once
#include <cstdint>

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

// out (m x n) = alpha * left (m x k) * right (k x n) + beta * out; out is not transposed, and not
// read when beta == 0. Sizes and `ld` fit an int: callers split or pack what does not.
template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Matrix<const T> left,
          Matrix<const T> right, T beta, Matrix<T> out);
extern template void gemm(std::int64_t, std::int64_t, std::int64_t, float, Matrix<const float>,
                          Matrix<const float>, float, Matrix<float>);
extern template void gemm(std::int64_t, std::int64_t, std::int64_t, double, Matrix<const double>,
                          Matrix<const double>, double, Matrix<double>);
template <>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t alpha,
          Matrix<const std::uint64_t> left, Matrix<const std::uint64_t> right, std::uint64_t beta,
          Matrix<std::uint64_t> out);

}  // namespace rushlight
