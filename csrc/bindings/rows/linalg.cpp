// What rushlight.linalg is written with: each takes the name of the op that errors name.
#include "linalg.h"

#include "bindings/table/signature.h"
#include "ops/linalg/linalg.h"

namespace rushlight::python {

static Tensor permutation(const Tensor& pivots, std::int64_t n) {
  return linalg_permutation(pivots, n, true);
}

void bind_linalg(pybind11::module_& m) {
  constexpr auto kFunction = with_complex(As::function);
  op<&linalg_check>(m, "_linalg_check(name, a, square)", kFunction,
                    "Refuses what is no batch of matrices, by dtype and size.");
  op<&linalg_lu>(m, "_linalg_lu(name, a)", kFunction, "L and U packed, pivots, info.");
  op<&linalg_cholesky>(m, "_linalg_cholesky(name, a, upper)", kFunction, "The factor, and info.");
  op<&linalg_qr>(m, "_linalg_qr(name, a, mode)", kFunction, "Q and R.");
  op<&linalg_eigh>(m, "_linalg_eigh(name, a, upper, vectors)", kFunction,
                   "Eigenvalues and vectors of symmetric matrices, info.");
  op<&linalg_eig>(m, "_linalg_eig(name, a, vectors)", kFunction,
                  "Eigenvalues and vectors of square matrices.");
  op<&linalg_svd>(m, "_linalg_svd(name, a, full, vectors)", kFunction, "U, S and Vh.");
  op<&linalg_solve>(m, "_linalg_solve(name, a, b)", kFunction, "x with a x = b, and info.");
  op<&linalg_lu_solve>(m, "_linalg_lu_solve(lu, pivots, b, transposed)", kFunction,
                       "x with a x = b, from the factors of a.");
  op<&linalg_solve_triangular>(m, "_linalg_solve_triangular(name, a, b, upper, unit)", kFunction,
                               "x with a x = b for triangular a.");
  op<&linalg_householder>(m, "_linalg_householder(name, a, tau)", kFunction,
                          "The product of Householder reflections.");
  op<&linalg_inv_ex>(m, "_linalg_inv_ex(name, a)", kFunction, "The inverse, and info.");
  op<&linalg_inv>(m, "_linalg_inv(name, a)", kFunction, "The inverse, or LinAlgError.");
  op<&linalg_ldl_factor>(m, "_linalg_ldl_factor(a, hermitian)", kFunction,
                         "L and D packed, pivots, info.");
  op<&linalg_ldl_solve>(m, "_linalg_ldl_solve(ld, pivots, b, hermitian)", kFunction,
                        "x with a x = b, from the factors of a.");
  op<&linalg_check_info>(m, "_linalg_check_info(name, info, words)", kFunction,
                         "Raises LinAlgError for the first info that is not 0.");
  op<&linalg_pinv>(m, "_linalg_pinv(a, atol, rtol, hermitian)", kFunction,
                   "The pseudo-inverse, with tensors as tolerances.");
  op<&linalg_lstsq>(m, "_linalg_lstsq(a, b, rcond)", kFunction, "The solution, and the rank of a.");
  op<&geqrf>(m, "geqrf(input, *, out=None) -> (a, tau)",
             with_complex({.as = As::both, .converts = true}),
             R"(R of a QR decomposition, with the reflections of Q below it, as LAPACK has them.

Args:
    input: matrices.

Shape:
    input (*, m, n) gives a (*, m, n) and tau (*, min(m, n)): torch.linalg.householder_product()
    and torch.ormqr() take both.

>>> torch.geqrf(torch.tensor([[3.0], [4.0]])).a[0].abs()
tensor([5.]))");
  op<&ormqr>(m, "ormqr(input, input2, input3, left=True, transpose=False, *, out=None)",
             with_complex({.as = As::both, .exact = true}),
             R"(Q C, or C Q, of the square Q that reflections name, as torch.geqrf() gives them.

Args:
    input: the reflections, below the diagonal of matrices.
    input2: their factors tau.
    input3: the matrices C.
    left: Q C; otherwise C Q.
    transpose: Q^T in place of Q.

Shape:
    input (*, m, k), input2 (*, k), input3 (*, m, n), or (*, n, m) without left, which is that of
    the result.

>>> C = torch.ones(3, 2)
>>> torch.allclose(torch.ormqr(*torch.geqrf(torch.eye(3)), C).abs(), C)
True)");
  op<&linalg_det>(m, "linalg_det(A, *, out=None)", with_complex({.as = As::linalg, .exact = true}),
                  R"(The determinant of square matrices.

Args:
    A: square matrices.

Shape:
    A (*, n, n) gives (*).

>>> torch.linalg.det(torch.tensor([[2.0, 1.0], [0.0, 4.0]]))
tensor(8.))");
  op<&linalg_slogdet>(m, "linalg_slogdet(A, *, out=None) -> (sign, logabsdet)",
                      with_complex(As::linalg),
                      R"(The sign and the logarithm of the absolute value of the determinant of
square matrices.

Args:
    A: square matrices.

Shape:
    A (*, n, n) gives (*).

>>> torch.linalg.slogdet(torch.tensor([[2.0, 0.0], [0.0, -4.0]])).sign
tensor(-1.))");
  op<&linalg_matrix_power>(
      m, "linalg_matrix_power(input, n, *, out=None)",
      with_complex({.as = As::linalg, .exact = true}),
      R"(`input` multiplied by itself n times; its inverse |n| times where n is negative.

Args:
    input: square matrices.
    n: the exponent.

Shape:
    input (*, n, n) gives the same.

Raises:
    LinAlgError: if n is negative and input singular.

>>> torch.linalg.matrix_power(torch.tensor([[1, 1], [0, 1]]), 3)
tensor([[1, 3],
        [0, 1]]))");
  op<&linalg_multi_dot>(m, "linalg_multi_dot(tensors, *, out=None)",
                        with_complex({.as = As::linalg, .exact = true}),
                        R"(The product of several matrices, multiplied in the cheapest order.

Args:
    tensors: matrices; the first and last may be vectors.

Shape:
    (n, a), (a, b), ..., (y, m) give (n, m).

>>> torch.linalg.multi_dot([torch.ones(2, 3), torch.ones(3, 4), torch.ones(4)])
tensor([12., 12.]))");
  op<&linalg_matrix_exp>(m, "linalg_matrix_exp(input)", with_complex(As::linalg),
                         R"(The matrix exponential: the sum of input^k / k! over all k.

Args:
    input: square matrices.

Shape:
    input (*, n, n) gives the same.

>>> torch.linalg.matrix_exp(torch.zeros(2, 2))
tensor([[1., 0.],
        [0., 1.]]))");
  op<&permutation>(m, "_linalg_permutation(pivots, n)", kFunction,
                   "Where each row goes when the exchanges that pivots name are undone.");
}

}  // namespace rushlight::python
