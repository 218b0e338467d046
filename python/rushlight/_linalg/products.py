"""Products and powers of matrices, and what is written with them."""

from __future__ import annotations

from rushlight import _C
from rushlight._arguments import wrapped
from rushlight._C import Tensor
from rushlight._dtype_names import NAMES
from rushlight._linalg import solving
from rushlight._table import op


@op("linalg", out=True)
def matmul(input: Tensor, other: Tensor):
    """torch.matmul().

    >>> torch.linalg.matmul(torch.eye(2), torch.ones(2))
    tensor([1., 1.])
    """
    return _C.matmul(input, other)


@op("linalg")
def diagonal(A: Tensor, *, offset=0, dim1=-2, dim2=-1):
    """torch.diagonal() of the last two dimensions.

    >>> torch.linalg.diagonal(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    return _C.diagonal(A, offset, dim1, dim2)


@op("linalg", out=True, exact=True, node="LinalgCrossBackward0")
def cross(input: Tensor, other: Tensor, *, dim: int = -1):
    """The cross product of vectors of three elements.

    Args:
        other: the second factor, broadcast with input.
        dim: the dimension of the vectors, of size 3.

    Shape: input and other broadcast, of size 3 along dim; the result has their common shape.

    >>> torch.linalg.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0]))
    tensor([0, 0, 1])
    """
    if input.dim() != other.dim():
        raise RuntimeError(
            f"linalg.cross: inputs must have the same number of dimensions.\n"
            f"got {tuple(input.shape)} and {tuple(other.shape)}"
        )
    given, dim = dim, wrapped(dim, input.dim())
    if input.dim() == 0 or input.shape[dim] != 3 or other.shape[dim] != 3:
        sizes = [x.shape[dim] if x.dim() else 1 for x in (input, other)]
        raise RuntimeError(
            f"linalg.cross: inputs dimension {given} must have length 3. Got {sizes[0]} and "
            f"{sizes[1]}"
        )
    if input.dtype != other.dtype:
        expected, found = (NAMES[x.dtype] for x in (input, other))
        raise RuntimeError(
            f"expected scalar type {expected} but found {found}\n"
            f"linalg.cross: convert other, for example other.to(input.dtype)"
        )
    if input.dtype == _C.bool or other.dtype == _C.bool:
        raise NotImplementedError("\"cross\" not implemented for 'Bool'")
    a, b = _C.broadcast_tensors(input, other)
    (a0, a1, a2), (b0, b1, b2) = a.unbind(dim), b.unbind(dim)
    parts = [a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0]
    return _C.stack(parts, dim)


@op("linalg", out=True, exact=True)
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1):
    """The dot products of vectors: the sum of the conjugate of x times y along dim.

    Args:
        x, y: the vectors, broadcast.
        dim: their dimension.

    Shape: x and y broadcast; the result is without dim.

    >>> torch.linalg.vecdot(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    tensor(11.)
    """
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{x.dtype} and y of type {y.dtype} instead"
        )
    if x.is_complex():
        return (_C.conj(x) * y).sum(dim)
    if not x.is_floating_point():
        raise RuntimeError(
            "linalg.vecdot: Expected a floating point or complex tensor as input. Got "
            f"{x.dtype}\nConvert both with .float()."
        )
    a, b = _C.broadcast_tensors(x, y)
    dim = wrapped(dim, a.dim())
    if a.dim() == 0:
        return a * b
    a, b = a.movedim(dim, -1), b.movedim(dim, -1)
    return (a.unsqueeze(-2) @ b.unsqueeze(-1)).squeeze((-2, -1))


@op("linalg")
def vander(x: Tensor, *, N=None):
    """The Vandermonde matrix of a vector: its powers, from 0 to N - 1, as columns.

    Args:
        x: vectors, (*, n).
        N: number of columns; n if None.

    Shape: x (*, n) gives (*, n, N).

    >>> torch.linalg.vander(torch.tensor([2, 3]), N=3)
    tensor([[1, 2, 4],
            [1, 3, 9]])
    """
    x = x if x.dim() else x.reshape(1)
    n = x.shape[-1] if N is None else N
    if n <= 1:
        raise RuntimeError(f"linalg.vander: N must be greater than 1. Got {n}")
    if x.dtype == _C.bool:
        raise NotImplementedError("linalg.vander: bool is not supported")
    powers = x.unsqueeze(-1).expand(*x.shape, n - 1).cumprod(-1)
    one = _C.ones((*x.shape, 1), dtype=powers.dtype, device=x.device)
    return _C.cat([one, powers], -1)


@op("linalg", out=True)
def tensorinv(input: Tensor, ind=2):
    """The inverse of a tensor as a linear map: the inverse of A reshaped to a square matrix.

    Args:
        input: the product of its first `ind` sizes is that of the others.
        ind: the number of dimensions that are the matrix's rows.

    Shape: A of shape (a..., b...), `ind` sizes in a, gives (b..., a...).

    >>> torch.linalg.tensorinv(torch.eye(4).reshape(4, 2, 2), ind=1).shape
    torch.Size([2, 2, 4])
    """
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind' argument.")
    rows, columns = list(input.shape[:ind]), list(input.shape[ind:])
    m, n = _C.Size(rows).numel(), _C.Size(columns).numel()
    if m != n:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {n} != {m}"
        )
    inverse, info = solving.inv_ex(input.reshape(m, n))
    _C._linalg_check_info(
        "linalg.tensorinv", info, "Failed to invert the input tensor, because it is singular."
    )
    return inverse.reshape(columns + rows)


@op("linalg", out=True)
def tensorsolve(input: Tensor, other: Tensor, dims=None):
    """The x with tensordot(A, x, x.dim()) = B.

    Args:
        input: as many elements as B squared.
        other: the right-hand side.
        dims: dimensions of A that are moved to its end first.

    Shape: A of shape (b..., x...) and B of shape (b...) give (x...).

    >>> torch.linalg.tensorsolve(torch.eye(4).reshape(4, 2, 2), torch.ones(4)).shape
    torch.Size([2, 2])
    """
    if dims is not None:
        count = len(dims)
        input = input.movedim(tuple(dims), tuple(range(input.dim() - count, input.dim())))
    shape = list(input.shape[other.dim() :])
    n = _C.Size(shape).numel()
    if n != other.numel():
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {n} != {other.numel()}"
        )
    x = solving.solve(input.reshape(other.numel(), n), other.reshape(-1))
    return x.reshape(shape)
