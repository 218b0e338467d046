"""spdiags(): a sparse matrix of diagonals."""

from rushlight import _C
from rushlight._sparse.dispatch import RULES
from rushlight._sparse.tensor import coordinates


def spdiags(diagonals, offsets, shape, layout=None):
    """A sparse matrix whose diagonals are rows of a dense one.

    Args:
        diagonals: a row for each diagonal; its element j stands in column j.
        offsets: which diagonals, distinct; 0 is the main one, positive ones are above it.
        shape: the sizes.
        layout: torch.sparse_coo, torch.sparse_csr or torch.sparse_csc; the first if None.

    Shape: diagonals (k, n), offsets (k) give shape.

    >>> torch.sparse.spdiags(torch.ones(1, 2), torch.tensor([1]), (2, 2)).to_dense()
    tensor([[0., 1.],
            [0., 0.]])
    """
    name = getattr(layout, "name", layout) or "sparse_coo"
    if name not in ("sparse_coo", "sparse_csr", "sparse_csc"):
        raise RuntimeError(
            f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {layout}"
        )
    table = diagonals.unsqueeze(0) if diagonals.dim() == 1 else diagonals
    offsets = offsets.unsqueeze(0) if offsets.dim() == 0 else offsets
    if table.dim() != 2:
        raise RuntimeError("Diagonals must be vector or matrix")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if offsets.dim() != 1:
        raise RuntimeError("Offsets must be scalar or vector")
    if offsets.dtype is not _C.int64:
        raise RuntimeError(f"Offset Tensor must have dtype Long but got {offsets.dtype}")
    if table.shape[0] != offsets.shape[0]:
        raise RuntimeError(
            f"Number of diagonals ({table.shape[0]}) does not match the number of offsets "
            f"({offsets.shape[0]})"
        )
    if offsets.unique().shape[0] != offsets.shape[0]:
        raise RuntimeError("Offset tensor contains duplicate values")
    rows, columns, values = [], [], []
    for row, offset in zip(table.unbind(0), offsets.tolist(), strict=True):
        first = max(offset, 0)
        last = min(shape[1], table.shape[1], shape[0] + offset)
        at = _C.arange(first, max(first, last), device=table.device)
        rows.append(at - offset)
        columns.append(at)
        values.append(row[first : max(first, last)])
    indices = _C.stack([_C.cat(rows), _C.cat(columns)])
    node = "SparseCooTensorWithDimsAndTensorsBackward0"
    made = coordinates(indices, _C.cat(values), shape, False, node)
    return made if name == "sparse_coo" else RULES[f"to_{name}"](made)
