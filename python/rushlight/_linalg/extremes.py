"""torch.lobpcg: the largest or smallest eigenvalues."""

from __future__ import annotations

from rushlight._C import Tensor
from rushlight._table import op

__all__ = ["lobpcg"]


@op("torch")
def lobpcg(
    A: Tensor, k: int | None = None, B: Tensor | None = None, X: Tensor | None = None,
    n: int | None = None, iK: Tensor | None = None, niter: int | None = None,
    tol: float | None = None, largest: bool | None = None, method: str | None = None,
    tracker=None, ortho_iparams=None, ortho_fparams=None, ortho_bparams=None,
):  # fmt: skip
    """The k largest eigenvalues of A x = e B x, with their vectors, from all of them: where torch
    iterates until its tolerance is met, they are as exact as those of torch.linalg.eigh().

    Args:
        A: a symmetric matrix, or a batch, dense or sparse.
        k: how many; 1, or as many as X has columns, if None.
        B: a positive definite matrix; the identity if None.
        X: where torch's iteration starts, (*, m, n); its sizes are looked at.
        n: how many vectors torch's iteration has; k if None.
        largest: False: the smallest ones instead.
        iK, niter, tol, method, tracker, ortho_iparams, ortho_fparams, ortho_bparams: of that
            iteration, without effect.

    Shape: A (*, m, m) gives (*, k) and (*, m, k).

    Raises:
        ValueError: where m is less than 3 n.

    >>> torch.lobpcg(torch.diag(torch.tensor([1.0, 3.0, 2.0])))[0]
    tensor([3.])
    """
    from rushlight import linalg

    assert A.shape[-2] == A.shape[-1], f"A must be square, got shape {A.shape}"
    m = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = (k if n is None else n) if X is None else X.shape[-1]
    if m < 3 * n:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than "
            f"3 x the number of requested eigenpairs (={n})"
        )
    A = A.to_dense() if A.is_sparse else A
    if B is None:
        values, vectors = linalg.eigh(A)
    else:
        L = linalg.cholesky(B.to_dense() if B.is_sparse else B)
        inner = linalg.solve_triangular(L, A, upper=False)
        inner = linalg.solve_triangular(L, inner.mH, upper=False)
        values, vectors = linalg.eigh((inner + inner.mH) / 2)
        vectors = linalg.solve_triangular(L.mH, vectors, upper=True)
    if largest is None or largest:
        return values[..., m - k :].flip(-1), vectors[..., m - k :].flip(-1)
    return values[..., :k], vectors[..., :k]
