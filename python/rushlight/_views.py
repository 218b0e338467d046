"""Views that are compositions of others, and copies of views."""

from __future__ import annotations

from rushlight._C import Tensor
from rushlight._table import op


@op("torch", "Tensor")
def adjoint(input: Tensor) -> Tensor:
    """The matrices transposed: a view.

    >>> torch.adjoint(torch.ones(4, 2, 3)).shape
    torch.Size([4, 3, 2])
    """
    if input.dim() == 1:
        raise RuntimeError(
            "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return input if input.dim() == 0 else input.mT


@op("torch", out=True)
def alias_copy(input: Tensor) -> Tensor:
    """A copy.

    >>> torch.alias_copy(torch.arange(2))
    tensor([0, 1])
    """
    return input.clone()


@op("torch", "Tensor", out=True)
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


@op("torch", out=True)
def slice_copy(
    input: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """A copy of input[start:end:step] along a dimension.

    Args:
        dim: the dimension.
        start, end, step: as Python's slices have them; step is at least 1.

    >>> torch.slice_copy(torch.arange(5), 0, 1, None, 2)
    tensor([1, 3])
    """
    if step <= 0:
        raise RuntimeError(f"slice step must be positive\nslice_copy(): step is {step}")
    return input.transpose(0, dim)[start:end:step].transpose(0, dim).clone()
