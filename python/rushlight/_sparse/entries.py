"""What rules do with entries: checks of indices, a number for each place, sums of equal places."""

import math

from rushlight import _C, no_grad
from rushlight._sparse.tensor import coordinates


def check_indices(indices, sizes):
    """Raises torch's error unless all indices lie within the sizes of the sparse dimensions."""
    if not indices.numel() or indices.device.type == "meta":
        return
    low, high = indices.amin(1).tolist(), indices.amax(1).tolist()
    for d, size in enumerate(sizes[: len(low)]):
        if low[d] < 0:
            raise RuntimeError(f"found negative index {low[d]} for dim {d}")
        if high[d] >= size:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {d}, size is {size} but found index "
                f"{high[d]}"
            )


def checked(x):
    """x, whose indices are looked at again if they were written to since."""
    version = x._i._version
    if vars(x).get("_seen") != version:
        check_indices(x._i, x._size)
        x._seen = version
    return x


def places(x, dims=None):
    """A number for each entry, the same where its indices in the sparse dimensions `dims` are the
    same, ascending with them.
    """
    checked(x)
    dims = range(x._i.shape[0]) if dims is None else dims
    if math.prod(x._size[d] for d in dims) >= 2**63:
        raise RuntimeError("the places of a sparse tensor of that size have no 64-bit numbers")
    found = None
    with no_grad():
        for d in dims:
            row = x._i[d]
            found = row if found is None else found * x._size[d] + row
    return _C.zeros(x._i.shape[1], dtype=_C.int64, device=x._i.device) if found is None else found


def indices_of(numbers, sizes):
    """The indices (len(sizes), entries) of the places that places() numbered."""
    rows = []
    for size in reversed(sizes):
        rows.append(numbers % max(size, 1))
        numbers = numbers // max(size, 1)
    if not rows:
        return _C.empty((0, numbers.shape[0]), dtype=_C.int64, device=numbers.device)
    return _C.stack(rows[::-1])


def summed(values, groups, count):
    """(count, ...): the sums of the values whose group is 0, 1, ..."""
    wide = values.dtype if values.dtype is not _C.bool else _C.int32
    sums = _C.zeros((count, *values.shape[1:]), dtype=wide, device=values.device)
    if values.dim() == 1:
        sums.scatter_add_(0, groups, values.to(wide))
    else:
        sums.index_add_(0, groups, values.to(wide))
    return sums if wide is values.dtype else sums.to(values.dtype)


def ascends(numbers):
    """Whether each number is greater than the one before."""
    return numbers.shape[0] < 2 or bool((numbers[1:] > numbers[:-1]).all())


def coalesced(x, node="CoalesceBackward0"):
    """x itself if it is coalesced; else the same with one entry for each place, in order."""
    if x._coalesced:
        return x
    numbers = places(x)
    if ascends(numbers):
        return coordinates(x._i, x._v.clone(), x._size, True, node)
    with no_grad():
        kept, groups = numbers.unique(return_inverse=True)
        indices = indices_of(kept, x._size[: x._i.shape[0]])
    return coordinates(indices, summed(x._v, groups, kept.shape[0]), x._size, True, node)


def chosen(x, which, **changes):
    """The entries of x at these positions, or where a mask is True."""
    parts = {"indices": x._i[:, which], "values": x._v[which], "size": x._size, **changes}
    return coordinates(**parts)


def empty_like(size, sparse_dims, like, dtype=None):
    """A sparse tensor without entries."""
    values = like.new_empty((0, *size[sparse_dims:]), dtype=dtype or like.dtype)
    indices = _C.empty((sparse_dims, 0), dtype=_C.int64, device=like.device)
    return coordinates(indices, values, size, True)
