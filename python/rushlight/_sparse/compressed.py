"""Matrices by rows (CSR) and by columns (CSC): making them, and to and from coordinate form."""

from __future__ import annotations

from rushlight import _C, no_grad
from rushlight._C import Tensor, device, dtype
from rushlight._sparse.construction import given_values, owned
from rushlight._sparse.dispatch import rule
from rushlight._sparse.entries import coalesced
from rushlight._sparse.tensor import (
    ByColumns,
    ByRows,
    Compressed,
    Coordinates,
    compressed,
    coordinates,
    is_sparse,
)
from rushlight._table import op


def _check(kind, starts, others, values, size):
    names = ("crow_indices", "col_indices") if kind is ByRows else ("ccol_indices", "row_indices")
    for name, part in zip(names, (starts, others), strict=True):
        if part.dtype not in (_C.int32, _C.int64):
            raise RuntimeError(
                f"`{names[0]}` and `{names[1]}` must be int32 or int64 dtype, but got "
                f"{part.dtype} of {name}"
            )
        if part.dim() != 1:
            raise NotImplementedError(
                f"{name} has {part.dim()} dimensions: batches of compressed matrices are not in "
                "rushlight"
            )
    if values.dim() != 1:
        raise NotImplementedError(
            f"values has {values.dim()} dimensions: compressed matrices of dense parts are not in "
            "rushlight"
        )
    if len(size) != 2:
        raise NotImplementedError(
            f"compressed tensors have 2 dimensions in rushlight, got size {list(size)}"
        )
    if others.shape != values.shape:
        raise RuntimeError(
            f"{names[1]}.shape[-1] must be equal to nnz (={values.shape[0]}) as defined by "
            f"values.shape[0], but got {others.shape[0]}"
        )
    outer, inner, count = size[kind._outer], size[1 - kind._outer], values.shape[0]
    if starts.shape[0] != outer + 1:
        raise RuntimeError(
            f"{names[0]}.shape[-1] must be equal to the number of "
            f"{'rows' if kind is ByRows else 'columns'} + 1 (={outer + 1}), but got "
            f"{starts.shape[0]}"
        )
    if starts.device.type == "meta":
        return
    if int(starts[0]) != 0 or int(starts[-1]) != count:
        raise RuntimeError(
            f"`{names[0]}[..., 0] == 0` and `{names[0]}[..., -1] == nnz` are not satisfied"
        )
    steps = starts[1:] - starts[:-1]
    if outer and (int(steps.amin()) < 0 or int(steps.amax()) > inner):
        raise RuntimeError(
            f"`0 <= {names[0]}[..., 1:] - {names[0]}[..., :-1] <= {inner}` is not satisfied."
        )
    if count and (int(others.amin()) < 0 or int(others.amax()) >= inner):
        raise RuntimeError(
            f"`0 <= {names[1]} < {'ncols' if kind is ByRows else 'nrows'}` is not satisfied.\n"
            f"there are {inner}"
        )
    owners = _owners(starts, count)
    if count > 1:
        same = owners[1:] == owners[:-1]
        if bool((same & (others[1:] <= others[:-1])).any()):
            raise RuntimeError(
                f"`{names[1]}[..., {names[0]}[..., i - 1]:{names[0]}[..., i]] for all i = 1, ..., "
                f"{outer} are sorted and distinct along the last dimension values` is not "
                "satisfied."
            )


def _owners(starts, count):
    """The row (or column) of each entry."""
    steps = (starts[1:] - starts[:-1]).to(_C.int64)
    return _C.repeat_interleave(_C.arange(steps.shape[0], device=steps.device), steps)


def _refuse_pinned(pin_memory):
    if pin_memory:
        raise NotImplementedError("sparse tensors are not pinned in rushlight; leave it out")


def _made(kind, starts, others, values, size, dtype, device, requires_grad):
    values = given_values(values, dtype, device)
    parts = []
    for part in (starts, others):
        part = part if isinstance(part, Tensor) else _C.tensor(part)
        if is_sparse(part) or is_sparse(values):
            raise TypeError("the parts of a compressed tensor must be dense tensors")
        parts.append(part.detach().to(values.device))
    if size is None:
        outer = parts[0].shape[-1] - 1
        inner = int(parts[1].amax()) + 1 if parts[1].numel() else 0
        size = (outer, inner) if kind is ByRows else (inner, outer)
    size = [int(n) for n in size]
    _check(kind, *parts, values, size)
    return compressed(kind, *parts, owned(values, requires_grad), size)


@op("torch")
def sparse_csr_tensor(
    crow_indices, col_indices, values, size=None, *, dtype: dtype | None = None,
    device: device | None = None, pin_memory: bool = False, requires_grad: bool = False,
    check_invariants: bool | None = None,
):  # fmt: skip
    """A sparse matrix by rows.

    Args:
        crow_indices: for each row where its entries begin, and where the last one's end.
        col_indices: the column of each entry, ascending in a row.
        values: one for each entry.
        size: the sizes; the smallest that hold the entries if None.
        dtype, device: of the values.
        pin_memory: not here: True raises.
        requires_grad: whether the result is a leaf that gets a gradient.
        check_invariants: without effect: the parts are always checked.

    Shape: crow_indices (n + 1), col_indices and values (entries) give (n, m).

    Raises:
        RuntimeError: for parts that do not fit each other.

    >>> torch.sparse_csr_tensor([0, 1, 2], [1, 0], [3.0, 4.0]).to_dense()
    tensor([[0., 3.],
            [4., 0.]])
    """
    _refuse_pinned(pin_memory)
    return _made(ByRows, crow_indices, col_indices, values, size, dtype, device, requires_grad)


@op("torch")
def sparse_csc_tensor(
    ccol_indices, row_indices, values, size=None, *, dtype: dtype | None = None,
    device: device | None = None, pin_memory: bool = False, requires_grad: bool = False,
    check_invariants: bool | None = None,
):  # fmt: skip
    """A sparse matrix by columns.

    Args:
        ccol_indices: for each column where its entries begin, and where the last one's end.
        row_indices: the row of each entry, ascending in a column.
        values, size, dtype, device, pin_memory, requires_grad, check_invariants: as of
            sparse_csr_tensor.

    Shape: ccol_indices (m + 1), row_indices and values (entries) give (n, m).

    Raises:
        RuntimeError: for parts that do not fit each other.

    >>> torch.sparse_csc_tensor([0, 1, 2], [1, 0], [3.0, 4.0]).to_dense()
    tensor([[0., 4.],
            [3., 0.]])
    """
    _refuse_pinned(pin_memory)
    return _made(ByColumns, ccol_indices, row_indices, values, size, dtype, device, requires_grad)


@op("torch")
def sparse_compressed_tensor(
    compressed_indices, plain_indices, values, size=None, *, dtype: dtype | None = None,
    layout=None, device: device | None = None, pin_memory: bool = False,
    requires_grad: bool = False, check_invariants: bool | None = None,
):  # fmt: skip
    """A sparse matrix by rows or by columns.

    Args:
        compressed_indices: as crow_indices of sparse_csr_tensor.
        plain_indices: as its col_indices.
        layout: torch.sparse_csr or torch.sparse_csc, which must be given.
        values, size, dtype, device, pin_memory, requires_grad, check_invariants: as of
            sparse_csr_tensor.

    Shape: compressed_indices (n + 1), plain_indices and values (entries) give (n, m).

    >>> torch.sparse_compressed_tensor([0, 1], [1], [3.0], layout=torch.sparse_csr).to_dense()
    tensor([[0., 3.]])
    """
    raise RuntimeError("expected sparse compressed tensor layout but got Strided")


@rule("sparse_compressed_tensor")
def of_layout(layout, compressed_indices, plain_indices, values, size=None, **options):
    """sparse_compressed_tensor() with its layout."""
    kinds = {"sparse_csr": ByRows, "sparse_csc": ByColumns}
    if layout.name not in kinds:
        raise NotImplementedError(f"tensors of layout {layout} are not in rushlight 0.1")
    return _made(
        kinds[layout.name], compressed_indices, plain_indices, values, size,
        options.get("dtype"), options.get("device"), options.get("requires_grad", False),
    )  # fmt: skip


@rule("_coordinates")
def entries(x):
    """(rows, columns, values) of a compressed matrix."""
    version = x._c._version, x._p._version
    kept = x._entries
    if kept is None or kept[0] != version:
        kept = x._entries = version, _owners(x._c, x._v.shape[0]), x._p.to(_C.int64)
    _, owners, others = kept
    return (owners, others, x._v) if isinstance(x, ByRows) else (others, owners, x._v)


@rule("to_sparse_coo")
def to_sparse_coo(self):
    """In coordinate form; coordinates stay as they are."""
    if isinstance(self, Coordinates):
        return self
    rows, columns, values = entries(self)
    made = coordinates(_C.stack([rows, columns]), values, self._size, isinstance(self, ByRows),
                       "ToSparseBackward0")  # fmt: skip
    return made if isinstance(self, ByRows) else coalesced(made, "ToSparseBackward0")


def _compress(x, kind, node):
    if isinstance(x, kind):
        return x
    x = to_sparse_coo(x) if isinstance(x, Compressed) else x
    if x._i.shape[0] != 2 or x._v.dim() != 1:
        raise RuntimeError(
            f"{'CSR' if kind is ByRows else 'CSC'} tensors are matrices without dense dimensions "
            f"in rushlight, got a sparse tensor of size {list(x._size)}"
        )
    x = coalesced(x)
    rows, columns, values = x._i[0], x._i[1], x._v
    if kind is ByColumns:
        with no_grad():
            order = columns.argsort(stable=True)
        rows, columns, values = columns[order], rows[order], values.index_select(0, order)
    outer = x._size[kind._outer]
    with no_grad():
        bounds = _C.arange(outer + 1, device=rows.device)
        starts = _C.searchsorted(rows.contiguous(), bounds)
    return compressed(kind, starts, columns.clone(), values, x._size, node)


@rule("to_sparse_csr")
def to_sparse_csr(self, dense_dim=None):
    """By rows."""
    return _compress(self, ByRows, "ToSparseCsrBackward0")


@rule("to_sparse_csc")
def to_sparse_csc(self, dense_dim=None):
    """By columns."""
    return _compress(self, ByColumns, "ToSparseCscBackward0")
