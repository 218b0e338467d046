"""Factorisations: Cholesky, QR, LU, eigenvalues of symmetric matrices, singular values."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import op

LinAlgError = _C._LinAlgError


check_info = _C._linalg_check_info


@op("linalg", out=True, returns="L, info")
def cholesky_ex(input: Tensor, *, upper: bool = False, check_errors: bool = False):
    """cholesky() that reports in `info` (0 where it succeeded) instead of raising.

    Args:
        input: symmetric positive-definite matrices, (*, n, n).
        upper: return L^T instead, and read A's upper triangle.
        check_errors: raise LinAlgError all the same.

    >>> torch.linalg.cholesky_ex(torch.eye(2)).info
    tensor(0, dtype=torch.int32)
    """
    factor, info = _C._linalg_cholesky("linalg.cholesky", input, upper)
    if check_errors:
        check_info("linalg.cholesky_ex", info, NOT_POSITIVE)
    return (factor, info)


NOT_POSITIVE = (
    "The factorization could not be completed because the input is not positive-definite "
    "(the leading minor of order {} is not positive-definite)."
)


@op("linalg", out=True, exact=True)
def cholesky(input: Tensor, *, upper: bool = False):
    """The lower triangular L with A = L L^T, of a symmetric positive-definite A.

    Args:
        input: symmetric positive-definite matrices, (*, n, n).
        upper: return L^T instead, and read A's upper triangle.

    Shape: (*, n, n) gives the same.

    Raises:
        LinAlgError: if A is not positive-definite.

    >>> torch.linalg.cholesky(torch.tensor([[4.0, 2.0], [2.0, 2.0]]))
    tensor([[2., 0.],
            [1., 1.]])
    """
    factor, info = _C._linalg_cholesky("linalg.cholesky", input, upper)
    check_info("linalg.cholesky", info, NOT_POSITIVE)
    return factor


@op("linalg", out=True, returns="Q, R")
def qr(A: Tensor, mode="reduced"):
    """Q with orthonormal columns and an upper triangular R: A = Q R.

    Args:
        A: matrices, (*, m, n).
        mode: "reduced": Q (*, m, k), R (*, k, n) with k = min(m, n); "complete": Q (*, m, m), R (*,
            m, n); "r": R alone, with an empty Q.

    Shape: A (*, m, n) gives Q (*, m, k) and R (*, k, n), k = min(m, n), or as `mode` says.

    >>> Q, R = torch.linalg.qr(torch.tensor([[3.0, 1.0], [4.0, 2.0]]))
    >>> torch.allclose(Q @ R, torch.tensor([[3.0, 1.0], [4.0, 2.0]]))
    True
    """
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), "
            "'r', or 'complete'"
        )
    q, r = _C._linalg_qr("linalg.qr", A, mode)
    if mode == "r":
        q = A.new_empty((0,), requires_grad=r.requires_grad)
    return (q, r)


def _is_upper(UPLO):
    if not isinstance(UPLO, str):
        raise TypeError(f"linalg_eigh(): argument 'UPLO' must be str, not {type(UPLO).__name__}")
    if UPLO.upper() not in ("U", "L"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper() == "U"


@op("linalg", out=True, returns="eigenvalues, eigenvectors")
def eigh(input: Tensor, UPLO="L"):
    """Eigenvalues, ascending, and eigenvectors (as columns) of a symmetric matrix.

    Args:
        input: symmetric matrices, (*, n, n).
        UPLO: which triangle of A is read, "L" or "U".

    Shape: (*, n, n) gives eigenvalues (*, n) and eigenvectors (*, n, n).

    >>> torch.linalg.eigh(torch.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    tensor([1., 2.])
    """
    values, vectors, _ = _C._linalg_eigh("linalg.eigh", input, _is_upper(UPLO), True)
    return (values, vectors)


@op("linalg", out=True, exact=True)
def eigvalsh(input: Tensor, UPLO="L"):
    """The eigenvalues of a symmetric matrix, ascending.

    Args:
        input: symmetric matrices, (*, n, n).
        UPLO: which triangle of A is read, "L" or "U".

    Shape: (*, n, n) gives (*, n).

    >>> torch.linalg.eigvalsh(torch.tensor([[2.0, 0.0], [0.0, 1.0]]))
    tensor([1., 2.])
    """
    return _C._linalg_eigh("linalg.eigh", input, _is_upper(UPLO), False)[0]


@op("linalg", out=True, returns="U, S, Vh")
def svd(A: Tensor, full_matrices: bool = True, *, driver=None):
    """The singular value decomposition A = U diag(S) Vh, S descending.

    Args:
        A: matrices, (*, m, n).
        full_matrices: U (*, m, m) and Vh (*, n, n); else (*, m, k) and (*, k, n), k = min(m, n).
        driver: on a GPU "gesvd", "gesvdj" or "gesvda", which are one here; on the CPU None.

    Shape: A (*, m, n) gives U, S (*, k) and Vh, k = min(m, n), the others as full_matrices says.

    >>> torch.linalg.svd(torch.tensor([[3.0, 0.0], [0.0, -2.0]])).S
    tensor([3., 2.])
    """
    _check_driver(A, driver)
    return _C._linalg_svd("linalg.svd", A, full_matrices, True)


def _check_driver(A, driver):
    if driver is None:
        return
    if not A.is_cuda:
        raise RuntimeError(
            "linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
            "cuSOLVER backend."
        )
    if driver not in ("gesvd", "gesvdj", "gesvda"):
        raise RuntimeError(
            f"linalg.svd: unknown svd driver {driver}, supported drivers are gesvd, gesvdj, gesvda"
        )


@op("linalg", out=True, exact=True)
def svdvals(A: Tensor, *, driver=None):
    """The singular values of a matrix, descending.

    Args:
        A: matrices, (*, m, n).
        driver: as of svd().

    Shape: A (*, m, n) gives (*, min(m, n)).

    >>> torch.linalg.svdvals(torch.tensor([[3.0, 0.0], [0.0, -2.0]]))
    tensor([3., 2.])
    """
    _check_driver(A, driver)
    return _C._linalg_svd("linalg.svd", A, False, False)[1]


def _no_pivot(name, pivot):
    if not pivot:
        raise RuntimeError(f"{name}: LU without pivoting is not implemented on the CPU")


@op("linalg", out=True, returns="LU, pivots, info")
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False):
    """lu_factor() that reports in `info` (the 1-based index of a zero on U's diagonal, else 0)
    instead of raising.

    Args:
        A: matrices, (*, m, n).
        pivot: True; False, without exchanges of rows, is not available.
        check_errors: raise LinAlgError all the same.

    >>> torch.linalg.lu_factor_ex(torch.eye(2)).info
    tensor(0, dtype=torch.int32)
    """
    _C._linalg_check("torch.lu_factor", A, False)
    _no_pivot("linalg.lu_factor", pivot)
    packed, pivots, info = _C._linalg_lu("torch.lu_factor", A)
    if check_errors:
        check_info("torch.linalg.lu_factor_ex", info, ZERO_ON_DIAGONAL)
    return (packed, pivots, info)


ZERO_ON_DIAGONAL = (
    "U[{},{}] is zero and using it on lu_solve would result in a division by zero. If you still "
    "want to perform the factorization, consider calling linalg.lu(A, pivot) or "
    "linalg.lu_factor_ex(A, pivot)"
)


@op("linalg", out=True, returns="LU, pivots")
def lu_factor(A: Tensor, *, pivot: bool = True):
    """L and U packed in one matrix, and the exchanges of rows, counted from 1: what lu_solve()
    takes.

    Args:
        A: matrices, (*, m, n).
        pivot: True; False, without exchanges of rows, is not available.

    Shape: A (*, m, n) gives LU (*, m, n) and pivots (*, min(m, n)).

    >>> LU, pivots = torch.linalg.lu_factor(torch.tensor([[2.0, 1.0], [4.0, 4.0]]))
    >>> LU, pivots
    (tensor([[ 4.0000,  4.0000],
            [ 0.5000, -1.0000]]), tensor([2, 2], dtype=torch.int32))
    """
    packed, pivots, info = lu_factor_ex(A, pivot=pivot)
    check_info("torch.linalg.lu_factor", info, ZERO_ON_DIAGONAL)
    return (packed, pivots)


def unpacked(packed, pivots, with_lu=True, with_pivots=True):
    """P, L and U of a packed factorisation."""
    m, n = packed.shape[-2:]
    k = min(m, n)
    options = {"dtype": packed.dtype, "device": packed.device}
    lower = upper = permutation = packed.new_empty((0,))
    if with_lu:
        one = _C.eye(m, k, **options)
        lower = packed[..., :, :k].tril(-1) + one
        upper = packed[..., :k, :].triu()
    if with_pivots:
        order = _C._linalg_permutation(pivots, m)
        permutation = _C.eye(m, **options)[order.reshape(-1)].reshape((*order.shape, m))
    return permutation, lower, upper


@op("linalg", out=True, returns="P, L, U")
def lu(A: Tensor, *, pivot: bool = True):
    """The factorisation A = P L U: a permutation, a unit lower triangular and an upper triangular
    matrix.

    Args:
        A: matrices, (*, m, n).
        pivot: True; False, without exchanges of rows, is not available.

    Shape: A (*, m, n) gives P (*, m, m), L (*, m, k) and U (*, k, n), k = min(m, n).

    >>> P, L, U = torch.linalg.lu(torch.tensor([[2.0, 1.0], [4.0, 4.0]]))
    >>> U
    tensor([[ 4.,  4.],
            [ 0., -1.]])
    """
    _C._linalg_check("linalg.lu", A, False)
    _no_pivot("linalg.lu_factor", pivot)
    packed, pivots, _ = _C._linalg_lu("linalg.lu", A)
    return unpacked(packed, pivots)


@op("linalg", out=True, returns="LD, pivots, info")
def ldl_factor_ex(input: Tensor, *, hermitian: bool = False, check_errors: bool = False):
    """ldl_factor() that reports in `info` (the 1-based index of a zero on D's diagonal, else 0)
    instead of raising.

    Args:
        input: symmetric matrices, (*, n, n).
        hermitian: they are Hermitian: of real numbers the same.
        check_errors: raise LinAlgError all the same.

    >>> torch.linalg.ldl_factor_ex(torch.eye(2)).info
    tensor(0, dtype=torch.int32)
    """
    packed, pivots, info = _C._linalg_ldl_factor(input, bool(hermitian))
    if check_errors:
        check_info("torch.linalg.ldl_factor_ex", info, ZERO_IN_D)
    return (packed, pivots, info)


ZERO_IN_D = "D[{},{}] is zero: dividing by it in ldl_solve() would not give finite numbers."


@op("linalg", out=True, returns="LD, pivots")
def ldl_factor(input: Tensor, *, hermitian: bool = False):
    """L and D of A = L D L^T, packed in one matrix, of a symmetric A that need not be positive, and
    the exchanges of rows: what ldl_solve() takes.

    Args:
        input: symmetric matrices, (*, n, n); their lower triangle is read.
        hermitian: they are Hermitian, and A = L D L^H.

    Shape: (*, n, n) gives LD (*, n, n) and pivots (*, n).

    Raises:
        LinAlgError: if D is singular.

    >>> torch.linalg.ldl_factor(torch.tensor([[4.0, 2.0], [2.0, 2.0]])).LD
    tensor([[4.0000, 0.0000],
            [0.5000, 1.0000]])
    """
    packed, pivots, info = _C._linalg_ldl_factor(input, bool(hermitian))
    check_info("torch.linalg.ldl_factor", info, ZERO_IN_D)
    return (packed, pivots)


@op("linalg", out=True)
def householder_product(input: Tensor, tau: Tensor):
    """The first columns of the product of the reflections I - tau_i v_i v_i^H.

    Args:
        tau: their factors, (*, k); the v_i are below the diagonal of input, (*, m, n).

    Shape: input (*, m, n) and tau (*, k) give (*, m, n).

    >>> torch.linalg.householder_product(torch.eye(2), torch.zeros(2)).abs()
    tensor([[1., 0.],
            [0., 1.]])
    """
    name = "torch.linalg.householder_product"
    return _C._linalg_householder(name, input, tau)
