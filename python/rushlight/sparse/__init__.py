"""torch.sparse: functions of sparse tensors, and the types of tensors in coordinate form."""

from __future__ import annotations

from rushlight import _C
from rushlight._sparse import layouts as _layouts
from rushlight._sparse.products import addmm as _addmm
from rushlight._sparse.products import mm as _mm
from rushlight._sparse.reductions import softmax_of as _softmax_of
from rushlight._sparse.reductions import sum_of as _sum_of
from rushlight._sparse.tensor import Compressed as _Compressed
from rushlight._sparse.tensor import is_sparse as _is_sparse
from rushlight.sparse._diagonals import spdiags
from rushlight.sparse._invariants import check_sparse_tensor_invariants
from rushlight.sparse._reduced import reduced as _reduced
from rushlight.sparse._sampled import sampled_addmm

__all__ = [
    "addmm",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "spdiags",
    "sum",
]


def mm(mat1, mat2, reduce=None):
    """The product of two matrices of which one, or both, are sparse.

    Args:
        mat1: a matrix; sparse ones may be in any layout.
        mat2: a matrix; the product of two sparse ones is sparse.
        reduce: "sum", "mean", "amax" ("max") or "amin" ("min") of the products of a row, for mat1
            by rows (CSR) and mat2 dense.

    Shape: mat1 (n, m), mat2 (m, p), output (n, p).

    >>> torch.sparse.mm(torch.eye(2).to_sparse(), torch.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    if reduce is not None:
        return _reduced(mat1, mat2, reduce)
    if not _is_sparse(mat1) and not _is_sparse(mat2):
        return _C.mm(mat1, mat2)
    return _mm(mat1, mat2)


def addmm(mat, mat1, mat2, *, beta=1.0, alpha=1.0):
    """beta * mat + alpha * mat1 @ mat2, where mat1 is sparse.

    Args:
        mat: what is added, dense.
        mat1: a sparse matrix.
        mat2: a dense matrix.
        beta: the factor of mat; with 0, NaN in it has no effect.
        alpha: the factor of the product.

    Shape: mat broadcasts to (n, p), mat1 (n, m), mat2 (m, p), output (n, p).

    >>> torch.sparse.addmm(torch.ones(2, 1), torch.eye(2).to_sparse(), torch.ones(2, 1))
    tensor([[2.],
            [2.]])
    """
    if not _is_sparse(mat1) and not _is_sparse(mat2) and not _is_sparse(mat):
        return _C.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)
    return _addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sum(input, dim=None, dtype=None):
    """The sum of a sparse tensor: sparse where sparse dimensions are left.

    Args:
        input: a sparse tensor.
        dim: an int or a tuple of ints; all if None.
        dtype: of the result.

    Shape: that of input without dim.

    >>> torch.sparse.sum(torch.eye(2).to_sparse(), 0).to_dense()
    tensor([1., 1.])
    """
    if not _is_sparse(input):
        return input.sum(dtype=dtype) if dim is None else input.sum(dim, dtype=dtype)
    return _sum_of(input, dim, dtype)


def _of_entries(name, input, dim, dtype, logarithm):
    if not _is_sparse(input) or isinstance(input, _Compressed):
        raise NotImplementedError(
            f"Could not run 'aten::_sparse_{name}' with arguments from the "
            f"'{'SparseCsrCPU' if _is_sparse(input) else 'CPU'}' backend.\n"
            f"torch.sparse.{name}() takes a tensor of layout torch.sparse_coo: x.to_sparse()"
        )
    return _softmax_of(input, dim, dtype, logarithm)


def softmax(input, dim, *, dtype=None):
    """softmax over the entries that are there: absent ones count as -inf.

    Args:
        input: a sparse tensor in coordinate form.
        dim: the dimension.
        dtype: of the result.

    Shape: that of input.

    >>> torch.sparse.softmax(torch.eye(2).to_sparse(), 1).values()
    tensor([1., 1.])
    """
    return _of_entries("softmax", input, dim, dtype, False)


def log_softmax(input, dim, *, dtype=None):
    """The logarithm of softmax().

    Args:
        input: a sparse tensor in coordinate form.
        dim: the dimension.
        dtype: of the result.

    Shape: that of input.

    >>> torch.sparse.log_softmax(torch.eye(2).to_sparse(), 1).values()
    tensor([0., 0.])
    """
    return _of_entries("log_softmax", input, dim, dtype, True)


_TYPES = tuple(
    f"{kind}Tensor" for kind in "Byte Char Double Float Half Int Long Short BFloat16".split()
)


def __getattr__(name):
    if name in _TYPES:
        from rushlight.sparse._types import make_type

        globals()[name] = made = make_type(name)
        return made
    from rushlight._importable import find

    return find(__name__, name)


def __dir__():
    return sorted({*globals(), *_TYPES})
