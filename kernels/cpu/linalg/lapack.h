// What is used of LAPACK, which the vendored OpenBLAS contains: Fortran's interface, in which every
// argument is a pointer and the lengths of strings follow.
#pragma once
#include <algorithm>
#include <complex>
#include <cstddef>
#include <type_traits>

namespace rushlight {

// Of complex numbers, the real ones that they are made of.
template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;

// What LAPACK declares otherwise of complex numbers: those also work in real ones.
template <class T>
struct LapackSpectra {
  using I = const int*;
  using C = const char*;
  using Length = std::size_t;
  void (*eigh)(C jobz, C uplo, I n, T* a, I lda, T* w, T* work, I lwork, int* iwork, I liwork,
               int* info, Length, Length) = nullptr;
  void (*gesdd)(C jobz, I m, I n, T* a, I lda, T* s, T* u, I ldu, T* vt, I ldvt, T* work, I lwork,
                int* iwork, int* info, Length) = nullptr;
  void (*geev)(C jobvl, C jobvr, I n, T* a, I lda, T* wr, T* wi, T* vl, I ldvl, T* vr, I ldvr,
               T* work, I lwork, int* info, Length, Length) = nullptr;
  void (*gelsy)(I m, I n, I nrhs, T* a, I lda, T* b, I ldb, int* jpvt, const T* rcond, int* rank,
                T* work, I lwork, int* info) = nullptr;
};
template <class R>
struct LapackSpectra<std::complex<R>> {
  using I = const int*;
  using C = const char*;
  using T = std::complex<R>;
  using Length = std::size_t;
  void (*eigh)(C jobz, C uplo, I n, T* a, I lda, R* w, T* work, I lwork, R* rwork, I lrwork,
               int* iwork, I liwork, int* info, Length, Length) = nullptr;
  void (*gesdd)(C jobz, I m, I n, T* a, I lda, R* s, T* u, I ldu, T* vt, I ldvt, T* work, I lwork,
                R* rwork, int* iwork, int* info, Length) = nullptr;
  void (*geev)(C jobvl, C jobvr, I n, T* a, I lda, T* w, T* vl, I ldvl, T* vr, I ldvr, T* work,
               I lwork, R* rwork, int* info, Length, Length) = nullptr;
  void (*gelsy)(I m, I n, I nrhs, T* a, I lda, T* b, I ldb, int* jpvt, const R* rcond, int* rank,
                T* work, I lwork, R* rwork, int* info) = nullptr;
};

template <class T>
struct Lapack : LapackSpectra<T> {
  using I = const int*;
  using C = const char*;
  using Length = std::size_t;
  void (*getrf)(I m, I n, T* a, I lda, int* pivots, int* info) = nullptr;
  void (*potrf)(C uplo, I n, T* a, I lda, int* info, Length) = nullptr;
  void (*trsm)(C side, C uplo, C trans, C diag, I m, I n, const T* alpha, const T* a, I lda, T* b,
               I ldb, Length, Length, Length, Length) = nullptr;
  void (*geqrf)(I m, I n, T* a, I lda, T* tau, T* work, I lwork, int* info) = nullptr;
  void (*orgqr)(I m, I n, I k, T* a, I lda, const T* tau, T* work, I lwork, int* info) = nullptr;
  void (*geqrt)(I m, I n, I nb, T* a, I lda, T* t, I ldt, T* work, int* info) = nullptr;
  void (*larft)(C direct, C storev, I n, I k, T* v, I ldv, const T* tau, T* t, I ldt, Length,
                Length) = nullptr;
  void (*larfb)(C side, C trans, C direct, C storev, I m, I n, I k, const T* v, I ldv, const T* t,
                I ldt, T* c, I ldc, T* work, I ldwork, Length, Length, Length, Length) = nullptr;
  using FactorSymmetric = void(C uplo, I n, T* a, I lda, int* pivots, T* work, I lwork, int* info,
                               Length);
  using SolveSymmetric = void(C uplo, I n, I nrhs, const T* a, I lda, const int* pivots, T* b,
                              I ldb, int* info, Length);
  FactorSymmetric *sytrf = nullptr, *hetrf = nullptr;  // of real numbers both are one
  SolveSymmetric *sytrs = nullptr, *hetrs = nullptr;
  bool complete = false;  // all were found
};

template <class T>
const Lapack<T>& lapack();
template <>
const Lapack<float>& lapack<float>();
template <>
const Lapack<double>& lapack<double>();
template <>
const Lapack<std::complex<float>>& lapack<std::complex<float>>();
template <>
const Lapack<std::complex<double>>& lapack<std::complex<double>>();

// What a first call with lwork = -1 answers; float cannot hold every size exactly, so one more.
template <class T>
int work_size(T answer) {
  return int(std::min(double(std::real(answer)) * 1.0000002 + 1, 2147483000.0));
}

}  // namespace rushlight
