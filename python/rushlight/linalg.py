"""torch.linalg: the norms. Decompositions are not in rushlight."""

from rushlight import _C

__all__ = ["matrix_norm", "norm", "vector_norm"]


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None):
    """(sum |x|^ord)^(1 / ord) over dim, or over all elements.

    Args:
        ord: a number; 0 counts what is not zero, inf and -inf take the extreme.

    >>> torch.linalg.vector_norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    return _C.linalg_vector_norm(x, ord, dim, keepdim, dtype=dtype, out=out)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    """The norm of each matrix: 'fro', or 1, -1, inf, -inf from sums of columns or rows.

    >>> torch.linalg.matrix_norm(torch.ones(2, 2))
    tensor(2.)
    """
    if ord == "fro":
        return vector_norm(A, 2, tuple(dim), keepdim, dtype=dtype, out=out)
    if ord not in (1, -1, float("inf"), -float("inf")):
        raise NotImplementedError(
            f"linalg.matrix_norm: order {ord!r} needs singular values, which are not in rushlight"
        )
    rows, columns = (d % A.dim() for d in dim)
    summed, chosen = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = vector_norm(A, 1, summed, True, dtype=dtype)
    result = (sums.amax if ord > 0 else sums.amin)(chosen, True)
    if not keepdim:
        result = result.squeeze((rows, columns))
    return result if out is None else out.copy_(result)


def norm(A, ord=None, dim=None, keepdim=False, *, out=None, dtype=None):
    """vector_norm(), or matrix_norm() where ord is a string or dim names two dimensions.

    >>> torch.linalg.norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    pair = isinstance(dim, (tuple, list)) and len(dim) == 2
    if ord is not None and (pair or (dim is None and A.dim() == 2)):
        return matrix_norm(A, ord, dim or (-2, -1), keepdim, dtype=dtype, out=out)
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype, out=out)
