// The vendored OpenBLAS, loaded at the first product: linking it would start its threads at import.
#pragma once
#include <string>

namespace rushlight {

// The C interface's functions for T; null where the library is absent.
template <class T>
struct Blas {
  using Gemm = void(int order, int left, int right, int m, int n, int k, T alpha, const T* a,
                    int lda, const T* b, int ldb, T beta, T* c, int ldc);
  using Gemv = void(int order, int transposed, int m, int n, T alpha, const T* a, int lda,
                    const T* x, int incx, T beta, T* y, int incy);
  static constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
  Gemm* gemm = nullptr;
  Gemv* gemv = nullptr;
};
template <class T>
const Blas<T>& blas();
template <>
const Blas<float>& blas<float>();
template <>
const Blas<double>& blas<double>();

// "OpenBLAS 0.3.34 ... SkylakeX", or why it is not used. Loads the library.
const std::string& blas_description();

}  // namespace rushlight
