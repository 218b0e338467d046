"""Copies of views, and tensors of a layout that is given."""

from __future__ import annotations

from rushlight import _C
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


@op("torch")
def empty_permuted(size, physical_layout, *, dtype=None, layout=None, device=None,
                   requires_grad=False, pin_memory=False):  # fmt: skip
    """An unset tensor whose dimensions lie in memory in another order.

    Args:
        size: the shape.
        physical_layout: the dimensions, from the one of the largest steps on.

    >>> torch.empty_permuted((2, 3), (1, 0)).stride()
    (1, 2)
    """
    order = [d % len(size) if -len(size) <= d < len(size) else -1 for d in physical_layout]
    if len(order) != len(size):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {len(size)} is not equal to len(physical_layout) = {len(order)}"
        )
    if -1 in order:
        raise RuntimeError(f"Dimension out of range: physical_layout={list(physical_layout)}")
    if len(set(order)) < len(order):
        raise RuntimeError("Duplicate dim not allowed")
    made = _C.empty(
        [size[d] for d in order], dtype=dtype, device=device, pin_memory=pin_memory,
        requires_grad=False,
    ).permute([order.index(d) for d in range(len(size))])  # fmt: skip
    return made.requires_grad_(requires_grad)


@op("torch", "Tensor", out=True)
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first `size` positions of what is not 0; rows of `fill_value` where there are fewer.

    >>> torch.nonzero_static(torch.tensor([1, 0, 2]), size=3).flatten()
    tensor([ 0,  2, -1])
    """
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = input.nonzero()[:size]
    made = _C.full((size, input.dim()), fill_value, dtype=_C.int64, device=input.device)
    made[: found.shape[0]] = found
    return made
