// Factorisations of matrices. Note: matrices are batches of rank 3 in column-major
// order (strides m * n, 1, m), float32, float64, complex64 or complex128, and are overwritten.
// `info` holds one int32 for each matrix, 0 where it went well, as LAPACK says it. Sizes fit 31
// bits.
#pragma once
#include "view.h"

namespace rushlight {

struct LinalgKernels {
  // Why there is nothing here to call but permutation(), which every device has; null where there
  // is.
  const char* (*absence)();
  // a := L and U packed; pivots int32 (batch, min(m, n)): row i was exchanged with pivots[i] - 1.
  void (*lu)(const View& a, const View& pivots, const View& info);
  // b := solution of a x = b, or of its transpose, from the factors of lu(). Returns the index of
  // a pivot that names no row, or -1 (a GPU leaves a note); so does permutation().
  std::int64_t (*lu_solve)(const View& lu, const View& pivots, const View& b, bool transposed);
  // order int64 (batch, n): where row i comes from when rows are exchanged as pivots (batch, k <=
  // n) say; inverse: where it goes.
  std::int64_t (*permutation)(const View& pivots, const View& order, bool inverse);
  // a := its factor in the triangle that `upper` names; the other triangle is lost.
  void (*cholesky)(const View& a, bool upper, const View& info);
  // b := solution of a x = b for triangular a.
  void (*solve_triangular)(const View& a, const View& b, bool upper, bool unit);
  // a := R above the diagonal and Householder vectors below it; tau (batch, min(m, n)).
  void (*qr)(const View& a, const View& tau);
  // a (m, n <= m) := the first n columns of Q, from the vectors in its first columns.
  void (*householder)(const View& a, const View& tau);
  // a := eigenvectors if `vectors`; values (batch, n), real, ascend. Reads one triangle.
  void (*eigh)(const View& a, const View& values, bool vectors, bool upper, const View& info);
  // a is lost, s is real. u (m, k) and vt (k, n) as they are sized: k = min(m, n), all, or no data
  // for none.
  void (*svd)(const View& a, const View& u, const View& s, const View& vt, const View& info);
  // b (max(m, n), k) := in its first n rows the shortest x that minimises |a x - b|, b in the first
  // m; rank int64 (batch): parts of a up to rcond times the largest count as 0. Null: by svd().
  void (*lstsq)(const View& a, const View& b, double rcond, const View& rank) = nullptr;
  // values (batch, 2 n) := real parts, then imaginary ones, of the eigenvalues of a, which is lost;
  // vectors (batch, n, n), or no data for none: of a complex pair the real part of the first's,
  // then its imaginary part. Of complex matrices values are (batch, n) complex, and vectors as they
  // are. Null: the host does it.
  void (*eig)(const View& a, const View& values, const View& vectors, const View& info) = nullptr;
  // a := its factors, read from the lower triangle: a = L D L^T, or L D L^H where `hermitian`;
  // pivots int32 (batch, n), as LAPACK says them. Null: the host does it; so it does ldl_solve().
  void (*ldl)(const View& a, const View& pivots, bool hermitian, const View& info) = nullptr;
  // b := solution of a x = b from these. Returns the index of a bad pivot, or -1.
  std::int64_t (*ldl_solve)(const View& ld, const View& pivots, const View& b,
                            bool hermitian) = nullptr;
  // x := the inverse of the matrix whose factors lu() gave. Null: by lu_solve() of the identity.
  void (*invert)(const View& lu, const View& pivots, const View& x) = nullptr;
  bool takes_complex = false;  // else the host does what is complex
};
extern const LinalgKernels cpu_linalg;

}  // namespace rushlight
