"""sampled_addmm(): a product of dense matrices where a sparse one has entries."""

from rushlight import _C
from rushlight._sparse.products import _entries
from rushlight._sparse.tensor import ByRows, is_sparse, with_values


def sampled_addmm(input, mat1, mat2, *, beta=1.0, alpha=1.0):
    """alpha * mat1 @ mat2 at the entries of a sparse matrix, and beta times their values.

    Args:
        input: a sparse matrix by rows (CSR).
        mat1: a dense matrix.
        mat2: a dense matrix.
        beta: the factor of input's values.
        alpha: the factor of the product.

    Shape: input (n, p), mat1 (n, m), mat2 (m, p), output (n, p), by rows.

    >>> x = torch.eye(2).to_sparse_csr()
    >>> torch.sparse.sampled_addmm(x, torch.ones(2, 3), torch.ones(3, 2)).values()
    tensor([4., 4.])
    """
    if not isinstance(input, ByRows):
        raise RuntimeError(
            "Expected tensor input to have sparse csr layout, but got tensor with layout "
            f"{input.layout}"
        )
    for name, x in (("mat1", mat1), ("mat2", mat2)):
        if is_sparse(x) or x.dim() != 2:
            raise RuntimeError(f"sampled_addmm: Expected {name} to have strided layout")
        if x.dtype is not input._v.dtype:
            raise RuntimeError(f"sampled_addmm: Expected {name} and self to have the same dtype")
    if input._size[0] != mat1.shape[0]:
        raise RuntimeError("sampled_addmm: self.shape[-2] must match mat1.shape[-2]")
    if input._size[1] != mat2.shape[1]:
        raise RuntimeError("sampled_addmm: self.shape[-1] must match mat2.shape[-1]")
    if mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError("sampled_addmm: mat1 and mat2 shapes cannot be multiplied")
    rows, columns, values = _entries(input)
    if values.dtype in (_C.float32, _C.float64):
        found = _C._sparse_dots(rows, columns, mat1, mat2.t())
    else:
        found = (mat1.index_select(0, rows) * mat2.t().index_select(0, columns)).sum(1)
    found = found if alpha == 1 else found * alpha
    if beta:
        found = found + (values if beta == 1 else values * beta)
    return with_values(input, found, "SparseSampledAddmmBackward0")
