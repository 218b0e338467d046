"""Norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

from rushlight import _C
from rushlight._arguments import wrapped
from rushlight._C import Tensor
from rushlight._dtype_names import NAMES
from rushlight._linalg import factors, solving
from rushlight._table import op

_INF = float("inf")


@op("linalg", out=True, exact=True)
def vector_norm(input: Tensor, ord=2, dim=None, keepdim: bool = False, *, dtype=None):
    """(sum |x|^ord)^(1 / ord) over dim, or over all elements.

    Args:
        input: any tensor.
        ord: the exponent; 0 counts nonzero elements, inf and -inf take the extreme absolute value.
        dim: one dimension or several; all if None.
        keepdim: leave the reduced dimensions with size 1.
        dtype: what to convert to first.

    >>> torch.linalg.vector_norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    return _C._linalg_vector_norm(input, ord, dim, keepdim, dtype=dtype)


@op("linalg", out=True, exact=True)
def matrix_norm(input: Tensor, ord="fro", dim=(-2, -1), keepdim: bool = False, *, dtype=None):
    """The norm of each matrix.

    Args:
        input: matrices in the dimensions `dim`.
        ord: "fro"; "nuc", the sum of singular values; 2 and -2, the largest and smallest of them;
            1, -1, inf, -inf, the largest and smallest sum of a column or row.
        dim: the two dimensions of the matrices.
        keepdim: leave them with size 1.
        dtype: what to convert to first.

    >>> torch.linalg.matrix_norm(torch.ones(2, 2))
    tensor(2.)
    """
    name = "linalg.matrix_norm"
    if not isinstance(dim, (tuple, list)) or len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {dim}")
    if input.dim() < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {input.dtype}"
        )
    if dtype is not None:
        _check_dtype(input, dtype)
    rows, columns = (wrapped(d, input.dim()) for d in dim)
    if rows == columns:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    if isinstance(ord, str):
        if ord not in ("fro", "nuc"):
            raise RuntimeError(f"{name}: Order {ord} not supported.")
        if ord == "fro":
            return vector_norm(input, 2, (rows, columns), keepdim, dtype=dtype)
    elif abs(ord) not in (1, 2, _INF):
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    input = input if dtype is None else input.to(dtype)
    if ord == "nuc" or abs(ord) == 2:
        values = factors.svdvals(input.movedim((rows, columns), (-2, -1)))
        empty = ord == 2 and not values.size(-1)
        if ord == "nuc" or empty:
            result = values.sum(-1)
        else:
            result = values.amax(-1) if ord > 0 else values.amin(-1)
        if keepdim:
            for d in sorted((rows, columns)):
                result = result.unsqueeze(d)
        return result
    summed, chosen = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = vector_norm(input, 1, summed, True)
    if ord > 0:
        result = (sums.amax if sums.size(chosen) else sums.sum)(chosen, True)
    else:
        result = sums.amin(chosen, True)
    if not keepdim:
        result = result.squeeze((rows, columns))
    return result


def _check_dtype(input, dtype):
    """As that of vector_norm(), in words of its own."""
    kind = "complex" if input.is_complex() else "real"
    if not (dtype.is_floating_point or dtype.is_complex):
        wrong = f"dtype should be floating point or complex, but got {NAMES[dtype]}"
    elif dtype.is_complex != input.is_complex():
        wrong = f"dtype should be {kind} for {kind} inputs, but got {NAMES[dtype]}"
    elif _C.promote_types(input.dtype, dtype) != dtype:
        wrong = (
            f"the dtype of the input ({NAMES[input.dtype]}) should be convertible without "
            f"narrowing to the specified dtype ({NAMES[dtype]})"
        )
    else:
        return
    raise RuntimeError(f"linalg.matrix_norm: {wrong}")


@op("linalg", out=True, exact=True)
def norm(input: Tensor, ord=None, dim=None, keepdim: bool = False, *, dtype=None):
    """vector_norm(), or matrix_norm() where ord is a string or dim has two dimensions.

    >>> torch.linalg.norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    count = None if dim is None else len(dim) if isinstance(dim, (tuple, list)) else 1
    if count is not None and count not in (1, 2) and ord is not None:
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}"
        )
    if ord is not None and count is None and input.dim() not in (1, 2):
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. "
            f"Got {input.dim()}D."
        )
    if isinstance(ord, str) and (count or input.dim()) != 2:
        raise RuntimeError(f"linalg.norm: order {ord} needs two dimensions")
    if ord is not None and (count == 2 or (count is None and input.dim() == 2)):
        return matrix_norm(input, ord, dim or (-2, -1), keepdim, dtype=dtype)
    return vector_norm(input, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


@op("linalg", out=True)
def cond(input: Tensor, p=None):
    """The condition number |A| |inv(A)|: by how much an inverse magnifies errors.

    Args:
        input: matrices, (*, m, n); square unless p is 2 or -2.
        p: the norm, an `ord` of matrix_norm(); 2 if None.

    Shape: (*, m, n) gives (*).

    >>> torch.linalg.cond(torch.tensor([[4.0, 0.0], [0.0, 2.0]]))
    tensor(2.)
    """
    if input.dim() < 2:
        raise RuntimeError("linalg.cond: The input tensor A must have at least 2 dimensions.")
    if isinstance(p, str) and p not in ("fro", "nuc"):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if not input.numel():
        if p in ("fro", "nuc"):
            _C._linalg_check(f"linalg.cond(ord={p})", input, True)
        return input.real.new_zeros(input.shape[:-2])
    if p is None or p in (2, -2):
        values = factors.svdvals(input)
        return values[..., 0] / values[..., -1] if p != -2 else values[..., -1] / values[..., 0]
    if not isinstance(p, str) and abs(p) not in (1, _INF):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    _C._linalg_check(f"linalg.cond(ord={p})", input, True)
    if p == "nuc":
        values = factors.svdvals(input)
        return values.sum(-1) * values.reciprocal().sum(-1)
    inverse, info = solving.inv_ex(input)
    inverse = inverse.masked_fill((info != 0)[..., None, None], _INF)
    result = matrix_norm(input, p) * matrix_norm(inverse, p)
    return result.masked_fill(result.isnan(), _INF)  # of zeros, or of what holds a NaN
