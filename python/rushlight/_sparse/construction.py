"""Making sparse tensors: sparse_coo_tensor(), and the calls that are given a sparse layout."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor, device, dtype
from rushlight._sparse.dispatch import RULES, described
from rushlight._sparse.entries import check_indices, empty_like, places
from rushlight._sparse.tensor import coordinates, is_sparse
from rushlight._table import op

_FILLED = (
    "Could not run 'aten::{}' with arguments from the 'SparseCPU' backend.\n"
    "only torch.zeros, torch.empty and their like make sparse tensors: those of the others are "
    "dense, x.to_sparse() makes such a one sparse"
)


def given_values(values, dtype, device, like=None):
    """Values as a tensor whose history is kept."""
    if isinstance(values, Tensor):
        return values.to(device or (like.device if like is not None else values.device), dtype)
    if device is None and like is not None:
        device = like.device
    return _C.tensor(values, dtype=dtype, device=device)


def given_indices(indices, device):
    """Indices as a tensor of int64 on the device of the values."""
    if not isinstance(indices, Tensor):
        indices = _C.tensor(indices)
    if is_sparse(indices):
        raise TypeError("the indices of a sparse tensor must be a dense tensor")
    return indices.detach().to(device, _C.int64)


def owned(values, requires_grad):
    """Values as a tensor of their own: a leaf if asked for, else with the history that they have"""
    if requires_grad:
        return values.detach().requires_grad_()
    return values.view_as(values) if values.requires_grad else values.detach()


def _size_of(indices, values):
    if indices.shape[1] == 0 and indices.shape[0]:
        return [0] * indices.shape[0] + list(values.shape[1:])
    low, high = indices.amin(1).tolist(), indices.amax(1).tolist()
    for d, least in enumerate(low):
        if least < 0:
            raise RuntimeError(f"found negative index {least} for dim {d}")
    return [most + 1 for most in high] + list(values.shape[1:])


def made(indices, values, size, *, requires_grad=False, is_coalesced=None):
    """A sparse tensor of indices and values that are tensors: everything is checked."""
    if indices.dim() == 1 and not (indices.numel() == 0 and values.shape[:1] == (0,)):
        indices = indices.unsqueeze(0) if size is None else indices.unsqueeze(1)
    if indices.dim() == 1:
        indices = indices.reshape(0, 0)
    if indices.dim() != 2:
        raise RuntimeError(
            f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}\n"
            "one row for each sparse dimension, one column for each entry"
        )
    if values.dim() == 0:
        values = values.reshape(1)
    if size is None:
        size = _size_of(indices, values)
    size = [int(n) for n in size]
    if any(n >= 2**63 for n in size):
        raise RuntimeError(
            f"a sparse tensor of sizes {size} has more than 64 bits: indices go to 2**63 - 2"
        )
    sparse, dense = indices.shape[0], values.dim() - 1
    if len(size) != sparse + dense:
        raise RuntimeError(
            "'len(size) == sparse_dim + dense_dim' is not satisfied: "
            f"len(size) = {len(size)}, sparse_dim = {sparse}, dense_dim = {dense}"
        )
    if indices.shape[1] != values.shape[0]:
        raise RuntimeError(
            "indices and values must have same nnz, but got nnz from indices: "
            f"{indices.shape[1]}, nnz from values: {values.shape[0]}"
        )
    if list(values.shape[1:]) != size[sparse:]:
        raise RuntimeError(
            f"values has incorrect size, expected {[values.shape[0], *size[sparse:]]}, got "
            f"{list(values.shape)}"
        )
    if any(n < 0 for n in size):
        raise RuntimeError(f"Trying to create tensor with negative dimension: {size}")
    check_indices(indices, size)
    found = coordinates(
        indices, owned(values, requires_grad), size, bool(is_coalesced) or indices.shape[1] < 2,
        None if requires_grad or not values.requires_grad
        else "SparseCooTensorWithDimsAndTensorsBackward0",
    )  # fmt: skip
    found._seen = indices._version
    if is_coalesced and indices.shape[1] > 1 and indices.device.type != "meta":
        numbers = places(found)
        if not bool((numbers[1:] > numbers[:-1]).all()):
            raise RuntimeError(
                "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor"
            )
    return found


@op("torch")
def sparse_coo_tensor(
    indices=None, values=None, size=None, *, dtype: dtype | None = None,
    device: device | None = None, pin_memory: bool = False, requires_grad: bool = False,
    check_invariants: bool | None = None, is_coalesced: bool | None = None,
):  # fmt: skip
    """A sparse tensor in coordinate form: values at indices, zero elsewhere.

    Args:
        indices: one row for each sparse dimension, one column for each entry; the sizes, alone,
            make a tensor without entries.
        values: one for each entry; further dimensions are dense ones of the result.
        size: the sizes; the smallest that hold the indices if None.
        dtype, device: of the values.
        pin_memory: not here: True raises.
        requires_grad: whether the result is a leaf that gets a gradient, which is sparse.
        check_invariants: without effect: indices are always checked.
        is_coalesced: True says that the entries ascend and none comes twice, which is checked.

    Shape: indices (s, n), values (n, *) give size, of s dimensions and those of *.

    Raises:
        RuntimeError: for an index outside size, and for shapes that do not fit.

    >>> torch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    if pin_memory:
        raise NotImplementedError("sparse_coo_tensor(): pin_memory is not there; leave it out")
    if values is None:
        if size is None:
            if indices is None:
                raise TypeError("sparse_coo_tensor(): indices and values, or size, must be given")
            size = indices
        return without_entries(size, dtype, device, requires_grad)
    values = given_values(values, dtype, device)
    if is_sparse(values):
        raise TypeError("sparse_coo_tensor(): values must be a dense tensor")
    indices = given_indices(indices, values.device)
    return made(indices, values, size, requires_grad=requires_grad, is_coalesced=is_coalesced)


def without_entries(size, dtype, device, requires_grad=False):
    """A sparse tensor of zeros alone."""
    size = [int(n) for n in size]
    if any(n < 0 for n in size):
        raise RuntimeError(f"Trying to create tensor with negative dimension: {size}")
    like = _C.empty((0,), dtype=dtype, device=device)
    found = empty_like(size, len(size), like)
    if requires_grad:
        found._v.requires_grad_()
    return found


def of_layout(func, args, kwargs):
    """What a call makes that is given a sparse layout."""
    layout = kwargs.pop("layout", None)
    name = described(func)[0]
    if name == "sparse_compressed_tensor":
        return RULES[name](layout, *args, **kwargs)
    if name == "to_sparse":
        return func(*args, **kwargs, layout=layout.name)
    if layout is None or layout.name != "sparse_coo" or kwargs.pop("out", None) is not None:
        raise NotImplementedError(
            f"{name}() makes no tensor of this layout\n{_FILLED.format(name)}"
        )
    kwargs.pop("memory_format", None)
    wanted = [kwargs.pop(key, None) for key in ("dtype", "device", "requires_grad")]
    dtype, device, requires_grad = wanted
    kwargs.pop("pin_memory", None)
    if name in ("zeros", "empty"):
        size = args if not args or isinstance(args[0], int) else args[0]
        return without_entries(kwargs.pop("size", size), dtype, device, bool(requires_grad))
    if name in ("zeros_like", "empty_like"):
        x = args[0] if args else kwargs["input"]
        device = x.device if device is None else device
        return without_entries(x.shape, dtype or x.dtype, device, bool(requires_grad))
    if name in ("ones", "full"):
        raise RuntimeError("full(...) is not implemented for sparse layout")
    raise NotImplementedError(_FILLED.format("eye.m_out" if name == "eye" else name))
