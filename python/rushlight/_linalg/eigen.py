"""Eigenvalues of matrices that need not be symmetric."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import op


@op("linalg", out=True, returns="eigenvalues, eigenvectors")
def eig(input: Tensor):
    """Complex eigenvalues, in no order, and eigenvectors (as columns, of length 1) of a square
    matrix: A V = V diag(L).

    Args:
        input: real square matrices, (*, n, n).

    Shape: (*, n, n) gives eigenvalues (*, n) and eigenvectors (*, n, n).

    Raises:
        RuntimeError: if a number is not finite, and in backward() for a function of the vectors
            that changes when they are multiplied by a complex number of size 1.

    >>> torch.linalg.eig(torch.tensor([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues
    tensor([0.+1.j, 0.-1.j])
    """
    return _C._linalg_eig("linalg.eig", input, True)


@op("linalg", out=True, exact=True)
def eigvals(input: Tensor):
    """The complex eigenvalues of a square matrix, in no order.

    Args:
        input: real square matrices, (*, n, n).

    Shape: (*, n, n) gives (*, n).

    Raises:
        RuntimeError: if a number is not finite.

    >>> torch.linalg.eigvals(torch.tensor([[0.0, 1.0], [-1.0, 0.0]]))
    tensor([0.+1.j, 0.-1.j])
    """
    return _C._linalg_eig("linalg.eigvals", input, False)[0]
