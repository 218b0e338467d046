// What is used of LAPACK, which the vendored OpenBLAS contains: Fortran's interface, in which every
// argument is a pointer and the lengths of strings follow.
#pragma once
#include <cstddef>

namespace rushlight {

template <class T>
struct Lapack {
  using I = const int*;
  using C = const char*;
  using Length = std::size_t;
  void (*getrf)(I m, I n, T* a, I lda, int* pivots, int* info) = nullptr;
  void (*potrf)(C uplo, I n, T* a, I lda, int* info, Length) = nullptr;
  void (*trsm)(C side, C uplo, C trans, C diag, I m, I n, const T* alpha, const T* a, I lda, T* b,
               I ldb, Length, Length, Length, Length) = nullptr;
  void (*geqrf)(I m, I n, T* a, I lda, T* tau, T* work, I lwork, int* info) = nullptr;
  void (*orgqr)(I m, I n, I k, T* a, I lda, const T* tau, T* work, I lwork, int* info) = nullptr;
  void (*syevd)(C jobz, C uplo, I n, T* a, I lda, T* w, T* work, I lwork, int* iwork, I liwork,
                int* info, Length, Length) = nullptr;
  void (*gesdd)(C jobz, I m, I n, T* a, I lda, T* s, T* u, I ldu, T* vt, I ldvt, T* work, I lwork,
                int* iwork, int* info, Length) = nullptr;
  void (*geev)(C jobvl, C jobvr, I n, T* a, I lda, T* wr, T* wi, T* vl, I ldvl, T* vr, I ldvr,
               T* work, I lwork, int* info, Length, Length) = nullptr;
  void (*gelsy)(I m, I n, I nrhs, T* a, I lda, T* b, I ldb, int* jpvt, const T* rcond, int* rank,
                T* work, I lwork, int* info) = nullptr;
  bool complete = false;  // all were found
};

template <class T>
const Lapack<T>& lapack();
template <>
const Lapack<float>& lapack<float>();
template <>
const Lapack<double>& lapack<double>();

}  // namespace rushlight
