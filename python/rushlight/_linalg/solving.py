"""Solving linear equations: inverses, determinants, least squares."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor
from rushlight._linalg import factors
from rushlight._table import op
from rushlight._type_info import finfo

SINGULAR = "The solver failed because the input matrix is singular."
NO_INVERSE = (
    "The diagonal element {} is zero, the inversion could not be completed because the input "
    "matrix is singular."
)


def _is_vector(A, B):
    return B.dim() == 1 or (A.dim() - 1 == B.dim() and B.shape == A.shape[:-1])


def _solved(name, A, B, left=True):
    """x with A x = B (or x A = B), and info; B may be a batch of vectors."""
    _C._linalg_check(name, A, True)
    vector = _is_vector(A, B)
    if vector and not left:
        raise RuntimeError(
            f"{name}: Vector broadcasting of the left hand side is not supported for left=False. "
            "In this case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    right = B.unsqueeze(-1) if vector else B
    if left:
        x, info = _C._linalg_solve(name, A, right)
    else:
        x, info = _C._linalg_solve(name, A.mT, right.mT)
        x = x.mT
    return (x.squeeze(-1) if vector else x), info


@op("linalg", out=True, exact=True)
def solve(A: Tensor, B: Tensor, *, left: bool = True):
    """The x with A x = B, for square A.

    Args:
        A: square matrices, (*, n, n).
        B: a matrix (*, n, k), a vector (n), or batches of them.
        left: False for the x with x A = B.

    Shape: A (*, n, n) and B (*, n, k), (*, k, n) without left, or vectors (*, n), which is that of
        the result.

    Raises:
        LinAlgError: if A is singular.

    >>> torch.linalg.solve(torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.tensor([2.0, 2.0]))
    tensor([1.0000, 0.5000])
    """
    x, info = _solved("linalg.solve", A, B, left)
    factors.check_info("torch.linalg.solve", info, SINGULAR)
    return x


@op("linalg", out=True, returns="result, info")
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False):
    """solve() that reports in `info` (0 where it succeeded) instead of raising.

    Args: as of solve.
        check_errors: raise LinAlgError all the same.

    >>> torch.linalg.solve_ex(torch.eye(2), torch.ones(2)).info
    tensor(0, dtype=torch.int32)
    """
    x, info = _solved("linalg.solve", A, B, left)
    if check_errors:
        factors.check_info("torch.linalg.solve_ex", info, SINGULAR)
    return (x, info)


@op("linalg", out=True, exact=True)
def inv(A: Tensor):
    """The inverse of square matrices.

    Args:
        A: square matrices, (*, n, n).

    Shape: (*, n, n) gives the same.

    Raises:
        LinAlgError: if one is singular.

    >>> torch.linalg.inv(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return _C._linalg_inv("linalg.inv", A)


@op("linalg", out=True, returns="inverse, info")
def inv_ex(A: Tensor, *, check_errors: bool = False):
    """inv() that reports in `info` (0 where it succeeded) instead of raising.

    Args: as of inv.
        check_errors: raise LinAlgError all the same.

    >>> torch.linalg.inv_ex(torch.eye(2)).info
    tensor(0, dtype=torch.int32)
    """
    inverse, info = _C._linalg_inv_ex("linalg.inv", A)
    if check_errors:
        factors.check_info("linalg.inv_ex", info, NO_INVERSE)
    return (inverse, info)


@op("linalg", out=True, exact=True)
def solve_triangular(
    input: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
):
    """The x with A x = B for a triangular A; the other triangle is not read.

    Args:
        input: triangular matrices, (*, n, n).
        B: matrices (*, n, k).
        upper: which triangle A is.
        left: False for the x with x A = B.
        unitriangular: take A's diagonal as ones.

    Shape: input (*, n, n) and B (*, n, k), or (*, k, n) without left, which is that of the result.

    >>> A = torch.tensor([[2.0, 1.0], [0.0, 4.0]])
    >>> torch.linalg.solve_triangular(A, torch.tensor([[4.0], [8.0]]), upper=True)
    tensor([[1.],
            [2.]])
    """
    name = "linalg.solve_triangular"
    if left:
        x = _C._linalg_solve_triangular(name, input, B, upper, unitriangular)
    else:
        _C._linalg_check(name, input, True)
        x = _C._linalg_solve_triangular(name, input.mT, B.mT, not upper, unitriangular).mT
    return x


@op("linalg", out=True, exact=True)
def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False):
    """The x with A x = B from the factors of A that lu_factor() gives.

    Args:
        LU, pivots: what lu_factor() gives for A.
        B: matrices (*, n, k).
        left: False for the x with x A = B.
        adjoint: solve with A^H.

    Shape: LU (*, n, n), pivots (*, n), B (*, n, k), or (*, k, n) without left, which is that of the
        result.

    >>> LU, pivots = torch.linalg.lu_factor(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    >>> torch.linalg.lu_solve(LU, pivots, torch.tensor([[2.0], [2.0]]))
    tensor([[1.0000],
            [0.5000]])
    """
    _C._linalg_check("linalg.lu_solve", LU, True)
    if _C.is_grad_enabled() and (LU.requires_grad or B.requires_grad):
        P, L, U = factors.unpacked(LU, pivots)
        right = B if left else B.mH
        if adjoint == left:  # A^H x = B, or x A = B
            y = solve_triangular(U.mH, right, upper=False)
            x = P @ solve_triangular(L.mH, y, upper=True, unitriangular=True)
        else:
            y = solve_triangular(L, P.mT @ right, upper=False, unitriangular=True)
            x = solve_triangular(U, y, upper=True)
        return x if left else x.mH.contiguous()
    if left:
        x = _C._linalg_lu_solve(LU, pivots, B, adjoint)
    else:
        x = _C._linalg_lu_solve(LU, pivots, B.mH, not adjoint).mH
    return x


@op("linalg", out=True, exact=True)
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False):
    """The x with A x = B from the factors of A that ldl_factor() gives.

    Args:
        LD, pivots: what ldl_factor() gives for A.
        B: matrices (*, n, k).
        hermitian: what ldl_factor() was called with.

    Shape: LD (*, n, n), pivots (*, n) and B (*, n, k), which is that of the result.

    >>> LD, pivots = torch.linalg.ldl_factor(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    >>> torch.linalg.ldl_solve(LD, pivots, torch.tensor([[2.0], [2.0]]))
    tensor([[1.0000],
            [0.5000]])
    """
    return _C._linalg_ldl_solve(LD, pivots, B, bool(hermitian))


def _tolerances(A, atol, rtol):
    """atol and rtol as tensors that broadcast with (*, 1): torch's rule."""
    real = A.dtype.to_real()
    if rtol is None:
        rtol = max(A.shape[-2:]) * finfo(A.dtype).eps
        if atol is not None:
            rtol = (_C.as_tensor(atol, device=A.device) <= 0).to(real) * rtol
    both = (
        _C.as_tensor(x, dtype=real, device=A.device) for x in (0.0 if atol is None else atol, rtol)
    )
    return tuple(x.unsqueeze(-1) if x.dim() else x for x in both)


@op("linalg", out=True)
def pinv(input: Tensor, rcond=None, hermitian: bool = False, *, atol=None, rtol=None):
    """The pseudo-inverse (Moore-Penrose): of all x that minimise |A x - b|, pinv(A) b is the
    shortest.

    Args:
        input: matrices, (*, m, n).
        rcond: older name of rtol.
        hermitian: A is symmetric or Hermitian: use eigenvalues.
        atol: singular values up to this count as 0.
        rtol: so do those up to rtol times the largest; max(m, n) * eps if None.

    >>> torch.linalg.pinv(torch.tensor([[2.0, 0.0], [0.0, 0.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])
    """
    _C._linalg_check("linalg.pinv", input, bool(hermitian))
    if input.numel() == 0:
        return input.mH.clone()
    atol, rtol = _tolerances(input, atol, rcond if rtol is None else rtol)
    return _C._linalg_pinv(input, atol, rtol, bool(hermitian))


@op("linalg", out=True)
def matrix_rank(input: Tensor, tol=None, hermitian: bool = False, *, atol=None, rtol=None):
    """The number of singular values that are not 0 within the tolerances.

    Args:
        input: matrices, (*, m, n).
        tol: older name of atol.
        hermitian: A is symmetric or Hermitian: use eigenvalues.
        atol: singular values up to this count as 0.
        rtol: so do those up to rtol times the largest; max(m, n) * eps if None.

    >>> torch.linalg.matrix_rank(torch.ones(3, 3))
    tensor(1)
    """
    _C._linalg_check("linalg.matrix_rank", input, bool(hermitian))
    if input.numel() == 0:
        return input.new_zeros(input.shape[:-2], dtype=_C.int64)
    if tol is not None:
        atol, rtol = tol, 0.0
    with_history = input.detach()
    if hermitian:
        values = _C._linalg_eigh("linalg.matrix_rank", with_history, False, False)[0].abs()
    else:
        values = _C._linalg_svd("linalg.matrix_rank", with_history, False, False)[1]
    largest = values.amax(-1, True)
    if atol is None and not isinstance(rtol, Tensor):
        rtol = max(input.shape[-2:]) * finfo(input.dtype).eps if rtol is None else rtol
        return (values > (largest * rtol).clamp(min=0.0)).sum(-1)
    atol, rtol = _tolerances(input, atol, rtol)
    return (values > _C.maximum(atol, rtol * largest)).sum(-1)


@op("linalg", out=True, returns="solution, residuals, rank, singular_values")
def lstsq(input: Tensor, b: Tensor, rcond=None, *, driver=None):
    """The x that minimises |A x - B|, with residuals, rank and singular values.

    Args:
        input: matrices, (*, m, n).
        b: right-hand sides, (*, m, k) or (*, m).
        rcond: singular values up to this times the largest count as 0; eps * max(m, n) if None.
        driver: "gelsy" (the default), "gels", "gelsd" or "gelss": which results are filled in.

    Shape: input (*, m, n) and b (*, m, k) give solution (*, n, k), residuals (*, k), rank (*) and
        singular_values (*, min(m, n)); those that the driver does not compute are empty.

    >>> torch.linalg.lstsq(torch.eye(2), torch.tensor([[1.0], [2.0]])).solution
    tensor([[1.],
            [2.]])
    """
    name = "torch.linalg.lstsq"
    _C._linalg_check(name, input, False)
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(
            f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )
    if b.dim() < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if input.dtype != b.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype "
            f"{input.dtype} and other's dtype {b.dtype}"
        )
    vector = _is_vector(input, b)
    right = b.unsqueeze(-1) if vector else b
    if right.dim() < 2 or right.shape[-2] != input.shape[-2]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size(-{1 if vector else 2})")
    m, n = input.shape[-2:]
    empty = input.real.new_empty((0,))
    # with the history that residuals have
    no_residuals = (input.reshape(-1)[:0] + b.reshape(-1)[:0]).real
    if driver in ("gelsd", "gelss"):  # which cut off singular values
        solution = pinv(input, rtol=rcond) @ right
        rank = matrix_rank(input, rtol=rcond)
    else:
        smallest = max(m, n) * finfo(input.dtype).eps if rcond is None else rcond
        solution, rank = _C._linalg_lstsq(input, right, smallest)
    if driver == "gels":
        rank = input.new_empty((0,), dtype=_C.int64)
    has_residuals = m > n and driver not in (None, "gelsy")
    if has_residuals and driver != "gels":  # which takes the rank to be full
        has_residuals = bool((rank == n).all())
    residuals = no_residuals
    if has_residuals:
        residuals = (input @ solution - right).abs().square().sum(-2)
    values = factors.svdvals(input.detach()) if driver in ("gelsd", "gelss") else empty
    solution = solution.squeeze(-1) if vector else solution
    return (solution, residuals, rank, values)
