"""torch.sparse.mm(reduce=...): the sum, mean or an extreme of the products of each row."""

from rushlight import _C
from rushlight._sparse.products import _entries, mm
from rushlight._sparse.tensor import ByRows, is_sparse


def reduced(mat1, mat2, reduce):
    """The product with another reduction than the sum."""
    if not isinstance(mat1, ByRows) or is_sparse(mat2):
        raise NotImplementedError(
            "Could not run 'aten::_sparse_mm_reduce_impl' with these layouts.\n"
            "torch.sparse.mm(reduce=...) takes mat1 by rows, x.to_sparse_csr(), and mat2 dense"
        )
    reduce = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    if reduce == "prod":
        raise RuntimeError("sparse_mm_reduce: reduce type of prod has not been enabled.")
    if reduce not in ("sum", "mean", "amax", "amin"):
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    if reduce == "sum":
        return mm(mat1, mat2)
    rows, columns, values = _entries(mat1)
    if reduce == "mean":
        counts = (mat1._c[1:] - mat1._c[:-1]).clamp(min=1).to(values.dtype)
        return mm(mat1, mat2) / counts.unsqueeze(1)
    products = mat2.index_select(0, columns) * values.unsqueeze(1)
    zeros = _C.zeros((mat1._size[0], mat2.shape[1]), dtype=values.dtype, device=values.device)
    where = rows.unsqueeze(1).expand(products.shape)
    return zeros.scatter_reduce(0, where, products, reduce, include_self=False)
