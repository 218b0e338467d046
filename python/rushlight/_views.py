"""Views that are compositions of others, and copies of views."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import op


@op("torch", "Tensor")
def adjoint(input: Tensor) -> Tensor:
    """The matrices transposed, and their numbers conjugated: a view where they are real.

    Shape: (*, m, n) gives (*, n, m).

    >>> torch.adjoint(torch.ones(4, 2, 3)).shape
    torch.Size([4, 3, 2])
    """
    if input.dim() == 1:
        raise RuntimeError(
            "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return _C.conj(input if input.dim() == 0 else input.mT)


@op("torch", out=True)
def alias_copy(input: Tensor) -> Tensor:
    """A copy.

    Shape: that of input.

    >>> torch.alias_copy(torch.arange(2))
    tensor([0, 1])
    """
    return input.clone()


@op("torch", "Tensor", out=True, exact=True)
def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """A copy of narrow().

    >>> torch.narrow_copy(torch.arange(4), 0, 1, 2)
    tensor([1, 2])
    """
    if dim >= max(input.dim(), 1):  # IndexError elsewhere
        raise RuntimeError(
            f"narrow_copy(): Expected dim to be below the {input.dim()} dimensions of input, got "
            f"{dim}"
        )
    return input.narrow(dim, start, length).clone()
