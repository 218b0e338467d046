"""Methods of sparse tensors, as dense ones have them: they say what a dense tensor is not."""

from __future__ import annotations

from rushlight._C import Tensor
from rushlight._table import Number, op

_BACKEND = (
    "Could not run 'aten::{0}' with arguments from the 'CPU' backend.\n"
    "{0}() is of sparse tensors, and this one is dense: x.to_sparse() makes it sparse"
)


def _expected(name, words):
    raise RuntimeError(
        f"{name} expected {words} tensor layout but got Strided\n"
        f"{name}() is of sparse tensors, and this one is dense: x.to_sparse() makes it sparse"
    )


@op("Tensor")
def coalesce(self: Tensor):
    """The sparse tensor with one entry for each place, in order.

    Shape: that of self.

    >>> x = torch.sparse_coo_tensor([[1, 0, 1]], [3.0, 4.0, 5.0], (2,))
    >>> x.coalesce().values()
    tensor([4., 8.])
    """
    _expected("coalesce", "sparse coordinate")


@op("Tensor")
def is_coalesced(self: Tensor):
    """Whether the entries ascend and none comes twice.

    >>> torch.tensor([0.0, 2.0]).to_sparse().is_coalesced()
    True
    """
    _expected("is_coalesced", "sparse coordinate")


@op("Tensor")
def _coalesced_(self: Tensor, coalesced: bool):
    """Says whether the tensor is coalesced.

    Args:
        coalesced: what is_coalesced() returns from now on.
    """
    _expected("_coalesced_", "sparse coordinate")


@op("Tensor")
def indices(self: Tensor):
    """The indices of a coalesced tensor, one row for each sparse dimension.

    Shape: (sparse dimensions, entries).

    >>> torch.tensor([0.0, 2.0]).to_sparse().indices()
    tensor([[1]])
    """
    _expected("indices", "sparse coordinate")


@op("Tensor")
def values(self: Tensor):
    """The values of a coalesced or compressed tensor.

    Shape: (entries, dense dimensions).

    >>> torch.tensor([0.0, 2.0]).to_sparse().values()
    tensor([2.])
    """
    _expected("values", "sparse")


@op("Tensor")
def _indices(self: Tensor):
    """The indices as they are.

    Shape: (sparse dimensions, entries).
    """
    raise NotImplementedError(_BACKEND.format("_indices"))


@op("Tensor")
def _values(self: Tensor):
    """The values as they are, without history.

    Shape: (entries, dense dimensions).
    """
    raise NotImplementedError(_BACKEND.format("_values"))


@op("Tensor")
def _nnz(self: Tensor):
    """How many entries there are."""
    raise NotImplementedError(_BACKEND.format("_nnz"))


@op("Tensor")
def crow_indices(self: Tensor):
    """For each row of a matrix by rows where its entries begin, and the end.

    Shape: (n + 1).

    >>> torch.eye(2).to_sparse_csr().crow_indices()
    tensor([0, 1, 2])
    """
    _expected("crow_indices", "sparse row compressed")


@op("Tensor")
def col_indices(self: Tensor):
    """The column of each entry of a matrix by rows.

    Shape: (entries).

    >>> torch.eye(2).to_sparse_csr().col_indices()
    tensor([0, 1])
    """
    _expected("col_indices", "sparse row compressed")


@op("Tensor")
def ccol_indices(self: Tensor):
    """For each column of a matrix by columns where its entries begin, and the end.

    Shape: (m + 1).

    >>> torch.eye(2).to_sparse_csc().ccol_indices()
    tensor([0, 1, 2])
    """
    _expected("ccol_indices", "sparse column compressed")


@op("Tensor")
def row_indices(self: Tensor):
    """The row of each entry of a matrix by columns.

    Shape: (entries).

    >>> torch.eye(2).to_sparse_csc().row_indices()
    tensor([0, 1])
    """
    _expected("row_indices", "sparse column compressed")


@op("Tensor")
def sparse_mask(self: Tensor, mask: Tensor):
    """The elements at the entries of a sparse tensor.

    Args:
        mask: a sparse tensor of the same size.

    Shape: that of self.

    >>> torch.tensor([1.0, 2.0]).sparse_mask(torch.tensor([0.0, 1.0]).to_sparse()).values()
    tensor([2.])
    """
    raise NotImplementedError(_BACKEND.format("sparse_mask"))


@op("Tensor")
def sparse_resize_(self: Tensor, size, sparse_dim: int, dense_dim: int):
    """Makes the sizes of a sparse tensor larger.

    Args:
        size: the new sizes.
        sparse_dim, dense_dim: how many dimensions are sparse, and dense.

    Shape: size.

    >>> torch.tensor([0.0, 2.0]).to_sparse().sparse_resize_((4,), 1, 0).to_dense()
    tensor([0., 2., 0., 0.])
    """
    raise NotImplementedError(_BACKEND.format("sparse_resize_"))


@op("Tensor")
def sparse_resize_and_clear_(self: Tensor, size, sparse_dim: int, dense_dim: int):
    """Gives a sparse tensor another size and takes its entries away.

    Args:
        size: the new sizes.
        sparse_dim, dense_dim: how many dimensions are sparse, and dense.

    Shape: size.

    >>> torch.tensor([0.0, 2.0]).to_sparse().sparse_resize_and_clear_((4,), 1, 0)._nnz()
    0
    """
    raise NotImplementedError(_BACKEND.format("sparse_resize_and_clear_"))


@op("torch", "Tensor")
def resize_as_sparse_(input: Tensor, the_template: Tensor):
    """Gives a sparse tensor the size of another.

    Args:
        the_template: a sparse tensor.

    Shape: that of the_template.

    >>> x = torch.tensor([0.0, 2.0]).to_sparse()
    >>> torch.resize_as_sparse_(x, torch.zeros(3).to_sparse()).shape
    torch.Size([3])
    """
    raise NotImplementedError(_BACKEND.format("resize_as_sparse_"))


@op("torch")
def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The older name of torch.mm for a sparse matrix.

    Shape: input (n, m), mat2 (m, p), output (n, p).

    >>> torch.spmm(torch.eye(2).to_sparse(), torch.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    return input.mm(mat2)


@op("torch")
def dsmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The older name of torch.mm for a sparse matrix.

    Shape: input (n, m), mat2 (m, p), output (n, p).

    >>> torch.dsmm(torch.eye(2).to_sparse(), torch.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    return input.mm(mat2)


@op("torch", "Tensor")
def smm(input: Tensor, mat2: Tensor) -> Tensor:
    """A sparse matrix times a dense one, as a sparse one.

    Args:
        mat2: dense.

    Shape: input (n, m), mat2 (m, p), output (n, p).

    >>> torch.smm(torch.eye(2).to_sparse(), torch.ones(2, 1)).values()
    tensor([1., 1.])
    """
    raise NotImplementedError(_BACKEND.format("smm"))


@op("torch", out=True)
def hspmm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """A sparse matrix times a dense one: a sparse tensor whose values are rows.

    Args:
        mat1: sparse.
        mat2: dense.

    Shape: mat1 (n, m), mat2 (m, p), output (n, p).

    >>> torch.hspmm(torch.eye(2).to_sparse(), torch.ones(2, 1)).values()
    tensor([[1.],
            [1.]])
    """
    raise NotImplementedError(_BACKEND.format("hspmm"))


@op("torch")
def hsmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The older name of hspmm().

    Args:
        input: sparse.
        mat2: dense.

    Shape: input (n, m), mat2 (m, p), output (n, p).

    >>> torch.hsmm(torch.eye(2).to_sparse(), torch.ones(2, 1)).values()
    tensor([[1.],
            [1.]])
    """
    raise NotImplementedError(_BACKEND.format("hsmm"))


@op("torch", "Tensor", out=True)
def sspaddmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """beta * input + alpha * mat1 @ mat2 of sparse matrices input and mat1, as a sparse one whose
    entries are those of input and then those of the product.

    Args:
        input: sparse.
        mat1: sparse.
        mat2: dense.
        beta: factor of input.
        alpha: factor of the product.

    Shape: mat1 (n, m), mat2 (m, p), input and output (n, p).

    >>> x = torch.eye(2).to_sparse()
    >>> torch.sspaddmm(x, x, torch.ones(2, 2)).to_dense()
    tensor([[2., 1.],
            [1., 2.]])
    """
    raise NotImplementedError(_BACKEND.format("sspaddmm"))


@op("torch", out=True)
def saddmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """sspaddmm().

    >>> x = torch.eye(2).to_sparse()
    >>> torch.saddmm(x, x, torch.ones(2, 2)).to_dense()
    tensor([[2., 1.],
            [1., 2.]])
    """
    return input.sspaddmm(mat1, mat2, beta=beta, alpha=alpha)
