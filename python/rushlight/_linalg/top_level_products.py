"""torch.cross, torch.inner, torch.dist, ...: products, powers and distances of the top level."""

from __future__ import annotations

from rushlight import _C
from rushlight._arguments import wrapped
from rushlight._C import Tensor
from rushlight._dtype_names import NAMES as DTYPE_NAMES
from rushlight._table import op
from rushlight._warn_once import warn_once

__all__ = [
    "chain_matmul",
    "cross",
    "dist",
    "inner",
    "matrix_exp",
    "matrix_power",
    "renorm",
    "vander",
    "vdot",
]


@op("torch", "Tensor", out=True, exact=True)
def matrix_power(input: Tensor, n):
    """torch.linalg.matrix_power().

    >>> torch.matrix_power(torch.tensor([[1, 1], [0, 1]]), 3)
    tensor([[1, 3],
            [0, 1]])
    """
    from rushlight import linalg

    return linalg.matrix_power(input, n)


@op("torch", "Tensor", node="LinalgMatrixExpBackward0")
def matrix_exp(input: Tensor):
    """torch.linalg.matrix_exp().

    >>> torch.matrix_exp(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    from rushlight import linalg

    return linalg.matrix_exp(input)


@op("torch", out=True)
def chain_matmul(*matrices):
    """torch.linalg.multi_dot().

    >>> torch.chain_matmul(torch.ones(2, 3), torch.ones(3, 4)).shape
    torch.Size([2, 4])
    """
    from rushlight import linalg

    warn_once(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
        "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than "
        "multiple parameters."
    )
    if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)):
        matrices = tuple(matrices[0])
    if len(matrices) == 1:
        return matrices[0]
    return linalg.multi_dot(matrices)


@op("torch", "Tensor", out=True, exact=True)
def cross(input: Tensor, other: Tensor, dim: int | None = None):
    """The cross product of vectors of three elements.

    Args:
        other: the second factor, broadcast with input.
        dim: the dimension of the vectors; the first of size 3 if None.

    Shape: input and other broadcast, of size 3 along dim; the result has their common shape.

    >>> torch.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0]), dim=0)
    tensor([0, 0, 1])
    """
    from rushlight import linalg

    if dim is None:
        warn_once(
            "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass "
            "the dim explicitly or simply use torch.linalg.cross.\nThe default value of dim will "
            "change to agree with that of linalg.cross in a future release."
        )
        if 3 not in tuple(input.shape):
            raise RuntimeError("no dimension of size 3 in input")
        dim = tuple(input.shape).index(3)
    return linalg.cross(input, other, dim=dim)


@op("torch")
def vander(x: Tensor, N=None, increasing: bool = False):
    """The Vandermonde matrix of a vector: its powers as columns.

    Args:
        x: a vector.
        N: number of columns; the vector's length if None.
        increasing: the power 0 first instead of last.

    Shape: x (n) gives (n, N).

    >>> torch.vander(torch.tensor([2, 3]))
    tensor([[2, 1],
            [3, 1]])
    """
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x.shape[0] if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    result = x.unsqueeze(-1) ** _C.arange(n, device=x.device)
    return result if increasing else result.flip(-1)


@op("torch", "Tensor", out=True, exact=True, node="VdotBackward0")
def vdot(input: Tensor, other: Tensor):
    """dot() of the conjugate of input and of other.

    >>> torch.vdot(torch.tensor([2, 3]), torch.tensor([2, 1]))
    tensor(7)
    """
    return _C.dot(input.conj() if input.is_complex() else input, other)


@op("torch", "Tensor", out=True, exact=True)
def inner(input: Tensor, other: Tensor):
    """The sum of products over the last dimension of both.

    Args:
        other: its last dimension is of input's size.

    Shape: input (*, n) and other (**, n) give (*, **); a 0-d tensor is a factor of every element.

    >>> torch.inner(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor(11)
    """
    if input.dim() == 0 or other.dim() == 0:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    from rushlight.functional import tensordot

    if not input.shape[-1]:
        shape = (*input.shape[:-1], *other.shape[:-1])
        return input.sum() * other.sum() + input.new_zeros(shape)
    return tensordot(input, other, ([-1], [-1]))


@op("torch", "Tensor", node="DistBackward0")
def dist(input: Tensor, other: Tensor, p=2):
    """The p-norm of input - other.

    Args:
        other: broadcast with input.
        p: the norm's exponent.

    Shape: input and other broadcast; the result is ().

    >>> torch.dist(torch.tensor([3.0, 4.0]), torch.zeros(2))
    tensor(5.)
    """
    return _C.norm(input - other, float(p))


@op("torch", "Tensor", in_place=["Tensor"], out=True, exact=True, node="RenormBackward0")
def renorm(input: Tensor, p, dim, maxnorm):
    """input with each slice along dim scaled down to a p-norm of maxnorm, where it is larger.

    Args:
        p: the norm's exponent.
        dim: the dimension whose slices are scaled.
        maxnorm: the largest norm.

    Shape: that of input.

    >>> torch.renorm(torch.tensor([[3.0, 4.0], [0.0, 1.0]]), 2, 0, 1.0)
    tensor([[0.6000, 0.8000],
            [0.0000, 1.0000]])
    """
    if not p > 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if not maxnorm >= 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if input.dim() <= 1:
        raise RuntimeError(
            f"renorm: input needs at least 2 dimensions, got {input.dim()} dimensions"
        )
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(
            f"renorm: expected a floating point or complex tensor, got {DTYPE_NAMES[input.dtype]}"
        )
    dim = wrapped(dim, input.dim())
    others = [d for d in range(input.dim()) if d != dim]
    wide = input.float() if input.dtype in (_C.float16, _C.bfloat16) else input
    length = _C._linalg_vector_norm(wide, p, others, True)
    factor = _C.where(length > maxnorm, maxnorm / (length + 1e-7), 1.0)
    return (wide * factor).to(input.dtype)
