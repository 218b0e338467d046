// Factorisations of matrices and what solves with them. Matrices are the last two dimensions; the
// others are a batch. `name` is the op that errors name. Dtypes: float32, float64,
// complex64 and complex128; then "transposed" is the conjugate of the transposed.
#pragma once
#include "ops/ops.h"

namespace rushlight {

using Name = std::string_view;
using Pair = std::tuple<Tensor, Tensor>;
using Triple = std::tuple<Tensor, Tensor, Tensor>;

struct LinAlgError : RuntimeError {
  using RuntimeError::RuntimeError;
};

void linalg_check(Name name, const Tensor& a, bool square);  // dimensions, dtype, device

Tensor diagonal_of(const Tensor& t);  // of each matrix: a view

// ---- linalg.cpp: factors. The last result is `info`, int32, one for each matrix.
Triple linalg_lu(Name name, const Tensor& a);  // L and U packed, pivots (int32, from 1), info
Pair linalg_cholesky(Name name, const Tensor& a, bool upper);
// No info: Q (m, k or m; of mode "r" no columns) and R.
Pair linalg_qr(Name name, const Tensor& a, Name mode);
Pair geqrf(const Tensor& a);  // R above the reflections of Q, and their factors
// Eigenvalues, ascending, and vectors (undefined unless wanted) of symmetric or Hermitian matrices.
Triple linalg_eigh(Name name, const Tensor& a, bool upper, bool vectors);
// U, S, Vh: k = min(m, n) of them, or all; info is checked and raises.
Triple linalg_svd(Name name, const Tensor& a, bool full, bool vectors);

// ---- eig.cpp
// Eigenvalues and vectors (undefined unless wanted), complex.
Pair linalg_eig(Name name, const Tensor& a, bool vectors);

// ---- solve.cpp
Pair linalg_solve(Name name, const Tensor& a,
                  const Tensor& b);  // x with a x = b; batches broadcast
Tensor linalg_lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool adjoint);
// int64 (..., n): row i of P^T a is row p[i] of a, for pivots (..., n); or the inverse of that.
Tensor linalg_permutation(const Tensor& pivots, std::int64_t n, bool inverse);
Tensor linalg_solve_triangular(Name name, const Tensor& a, const Tensor& b, bool upper, bool unit);
Pair linalg_inv_ex(Name name, const Tensor& a);  // the inverse of square matrices
// The same; LinAlgError where there is none.
Tensor linalg_inv(Name name, const Tensor& a);
// Raises LinAlgError for the first matrix whose info is not 0, which goes where words have {}.
void linalg_check_info(Name name, const Tensor& info, std::string_view words);
// The first columns of the product of reflections I - tau v v^H, v below the diagonal of a.
Tensor linalg_householder(Name name, const Tensor& a, const Tensor& tau);
// The product of the square matrix of all reflections, or its adjoint, with `other`.
Tensor ormqr(const Tensor& input, const Tensor& tau, const Tensor& other, bool left,
             bool transpose_q);

// ---- indefinite.cpp: of symmetric matrices, or Hermitian ones
Triple linalg_ldl_factor(const Tensor& a, bool hermitian);  // L and D packed, pivots, info
Tensor linalg_ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b, bool hermitian);

// ---- determinant.cpp
Tensor linalg_det(const Tensor& a);
Pair linalg_slogdet(const Tensor& a);  // the sign, log |det|
// Singular values up to atol or up to rtol times the largest count as 0; both broadcast with
// (batch, 1).
Tensor linalg_pinv(const Tensor& a, const Tensor& atol, const Tensor& rtol, bool hermitian);
// Its gradient by a, for the pseudo-inverse p of a and the gradient g of p.
Tensor pinv_gradient(const Tensor& a, const Tensor& p, const Tensor& g);

// ---- lstsq.cpp
// The shortest x that minimises |a x - b| for matrices b, and the rank of a, where parts up to
// rcond times the largest count as 0.
Pair linalg_lstsq(const Tensor& a, const Tensor& b, double rcond);

// ---- powers.cpp
Tensor linalg_matrix_power(const Tensor& a, std::int64_t n);  // of the inverse where n < 0
Tensor linalg_multi_dot(const std::vector<Tensor>& tensors);  // in the order that costs least
Tensor linalg_matrix_exp(const Tensor& a);

}  // namespace rushlight
