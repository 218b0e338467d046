"""The largest singular values and principal components by a random projection (Halko, Martinsson
and Tropp, 2009)."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import op

__all__ = ["pca_lowrank", "svd_lowrank"]

_MOST_ITERATIONS = 100_000


def _columns_near_range(A, q, niter):
    """Orthogonal columns that A nearly stays within, after some power iterations."""
    from rushlight.linalg import qr

    if niter > _MOST_ITERATIONS:
        raise ValueError(
            f"niter must be at most {_MOST_ITERATIONS}, but got {niter}: two are enough as a rule"
        )
    basis = qr(A @ _C.randn(A.shape[-1], q, dtype=A.dtype, device=A.device)).Q
    for _ in range(niter):
        basis = qr(A.mH @ basis).Q
        basis = qr(A @ basis).Q
    return basis


@op("torch")
def svd_lowrank(A: Tensor, q: int | None = 6, niter: int = 2, M: Tensor | None = None):
    """The singular value decomposition of a matrix of low rank, nearly.

    Args:
        A: the matrix, or a batch, shape (*, m, n).
        q: how many singular values; somewhat more than the rank.
        niter: more iterations are more exact.
        M: what is subtracted from A.

    Shape: A (*, m, n) gives U (*, m, q), S (*, q) and V (*, n, q).

    Raises:
        ValueError: if q is negative or larger than a side of A, or niter above 100000.

    >>> U, S, V = torch.svd_lowrank(torch.diag(torch.tensor([3.0, 2.0, 0.0])), q=2)
    >>> S.round(decimals=2)
    tensor([3., 2.])
    """
    from rushlight.linalg import svd

    if M is not None:
        A = A - M.broadcast_to(A.shape)
    q = 6 if q is None else q
    wide = A.shape[-2] < A.shape[-1]
    tall = A.mH if wide else A
    basis = _columns_near_range(tall, q, niter)
    U, S, Vh = svd(basis.mH @ tall, full_matrices=False)
    U, V = basis @ U, Vh.mH
    return (V, S, U) if wide else (U, S, V)


@op("torch")
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2):
    """The principal components of rows: U, S and V with A - mean = U diag(S) V^H, nearly.

    Args:
        A: the rows, shape (*, m, n).
        q: how many components; 6 or fewer by default.
        center: subtract the mean of the rows.
        niter: more iterations are more exact.

    Shape: A (*, m, n) gives U (*, m, q), S (*, q) and V (*, n, q).

    Raises:
        ValueError: if q or niter is negative, or q is larger than a side of A.

    >>> rows = torch.tensor([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    >>> torch.pca_lowrank(rows, q=1)[1].round(decimals=2)
    tensor([2.])
    """
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not (q >= 0 and q <= min(m, n)):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}"
        )
    if not niter >= 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if center:
        A = A - A.mean(dim=(-2,), keepdim=True)
    return svd_lowrank(A, q, niter=niter)
