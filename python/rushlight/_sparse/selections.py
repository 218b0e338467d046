"""Parts of sparse tensors: select(), index_select(), x[...], unbind(), narrow_copy()."""

from rushlight import _C, no_grad
from rushlight._arguments import wrapped
from rushlight._C import Tensor
from rushlight._sparse.dispatch import RULES, refuse, rule
from rushlight._sparse.entries import ascends, checked, empty_like
from rushlight._sparse.tensor import Compressed, coordinates


@rule("select")
def select(input, dim, index, node="SelectBackward0"):
    """One place of a dimension; without sparse dimensions left, a dense tensor."""
    if isinstance(input, Compressed):
        return select(RULES["to_sparse_coo"](input), dim, index)
    rank = len(input._size)
    if not rank:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = wrapped(dim, rank)
    size = input._size[dim]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input._size)} at "
            f"dimension {dim}"
        )
    index = index + size if index < 0 else index
    count = input._i.shape[0]
    left = [n for d, n in enumerate(input._size) if d != dim]
    if dim >= count:
        values = input._v.select(dim - count + 1, index)
        return coordinates(input._i, values, left, input._coalesced, node)
    checked(input)
    with no_grad():
        which = (input._i[dim] == index).nonzero().reshape(-1)
    values = input._v.index_select(0, which)
    if count == 1:
        return values.sum(0, dtype=values.dtype)
    rows = [d for d in range(count) if d != dim]
    return coordinates(input._i[rows][:, which], values, left, input._coalesced, node)


@rule("index_select")
def index_select(input, dim, index):
    """Places of a dimension, in the order that is given."""
    if isinstance(input, Compressed):
        refuse("index_select", (input,), {})
    if index.dim() > 1 or index.dtype not in (_C.int32, _C.int64):
        raise RuntimeError("index_select() argument index must be 1-D tensor of int64 or int32")
    rank, node = len(input._size), "IndexSelectBackward0"
    dim = wrapped(dim, rank)
    size, index = input._size[dim], index.reshape(-1).to(_C.int64)
    if index.numel() and not (-size <= int(index.amin()) and int(index.amax()) < size):
        bad = int(index.amax()) if int(index.amax()) >= size else int(index.amin())
        raise IndexError(
            f"index_select(): index contains {bad} that is out of range for tensor of size "
            f"{list(input._size)} at dimension {dim}"
        )
    index = _C.where(index < 0, index + size, index)
    sizes = [index.numel() if d == dim else n for d, n in enumerate(input._size)]
    count = input._i.shape[0]
    if dim >= count:
        values = input._v.index_select(dim - count + 1, index)
        return coordinates(input._i, values, sizes, input._coalesced, node)
    checked(input)
    wanted, order = index.sort(stable=True)
    row = input._i[dim].contiguous()
    first = _C.searchsorted(wanted, row)
    counts = _C.searchsorted(wanted, row, right=True) - first
    which = _C.repeat_interleave(_C.arange(row.shape[0], device=row.device), counts)
    begins = counts.cumsum(0) - counts
    within = _C.arange(which.shape[0], device=row.device) - begins[which]
    new = order[first[which] + within]
    new, by_place = new.sort(stable=True)
    which = which[by_place]
    indices = input._i[:, which].clone()
    indices[dim] = new
    coalesced = input._coalesced and dim == 0 and ascends(index)
    return coordinates(indices, input._v.index_select(0, which), sizes, coalesced, node)


@rule("unbind")
def unbind(input, dim=0):
    """All places of a dimension."""
    size = input._size[wrapped(dim, len(input._size))]
    return tuple(select(input, dim, i, "UnbindBackward0") for i in range(size))


@rule("narrow_copy")
def narrow_copy(input, dim, start, length):
    """A range of a dimension."""
    if isinstance(input, Compressed):
        refuse("narrow_copy", (input,), {})
    dim = wrapped(dim, len(input._size))
    size = input._size[dim]
    if not (start >= 0 and length >= 0 and start + length <= size):
        raise RuntimeError(
            f"Invalid range to narrow. range.start must be 0 <= {start} and {start} + {length} "
            f"<= {size}"
        )
    count = input._i.shape[0]
    sizes = [length if d == dim else n for d, n in enumerate(input._size)]
    if dim >= count:
        values = input._v.narrow(dim - count + 1, start, length)
        return coordinates(input._i, values, sizes, input._coalesced)
    checked(input)
    row = input._i[dim]
    which = ((row >= start) & (row < start + length)).nonzero().reshape(-1)
    indices = input._i[:, which].clone()
    indices[dim] -= start
    return coordinates(indices, input._v.index_select(0, which), sizes, input._coalesced)


@rule("getitem")
def getitem(input, key):
    """Ints, None and full slices between the brackets."""
    if not isinstance(input, Tensor) or not hasattr(input, "_v"):
        raise IndexError("a sparse tensor is no index: use x.to_dense()")
    items = list(key) if isinstance(key, tuple) else [key]
    if len(items) == 1 and items[0] is Ellipsis:
        raise NotImplementedError("Cannot access storage of SparseTensorImpl")
    if Ellipsis in [i for i in items if i is Ellipsis]:
        at = next(k for k, i in enumerate(items) if i is Ellipsis)
        used = sum(i is not None and i is not Ellipsis for i in items)
        items[at : at + 1] = [slice(None)] * (len(input._size) - used)
    used = sum(i is not None for i in items)
    if used > len(input._size):
        raise IndexError(f"too many indices for tensor of dimension {len(input._size)}")
    dim = 0
    for item in items:
        if item is None:
            input = RULES["unsqueeze"](input, dim)
            dim += 1
        elif isinstance(item, int) and not isinstance(item, bool):
            size = input._size[dim]
            if not -size <= item < size:
                raise IndexError(
                    f"index {item} is out of bounds for dimension {dim} with size {size}"
                )
            input = select(input, dim, item)
            if not hasattr(input, "_v"):
                rest = items[items.index(item) + 1 :]
                return input[tuple(rest)] if rest and any(i is not None for i in rest) else input
        elif item == slice(None):
            dim += 1
        elif isinstance(item, slice):
            refuse("as_strided", (input,), {})
        else:
            refuse("index.Tensor", (input,), {})
    return input


@rule("setitem_ delitem_")
def setitem(input, key, value=None):
    """Not there."""
    raise TypeError("Cannot assign to a sparse tensor")


@rule("embedding F.embedding")
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """Rows of a sparse table."""
    refuse("embedding", (weight, indices), {})


@rule("zeros_like")
def zeros_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, **_):
    """Without entries."""
    if layout is _C.strided:
        device = input._v.device if device is None else device
        return _C.zeros(
            input._size, dtype=dtype or input._v.dtype, device=device, requires_grad=requires_grad
        )
    like = input._v if device is None else input._v.to(device)
    if isinstance(input, Compressed):
        if requires_grad or dtype is not None:
            refuse("zeros_like", (input,), {})
        return RULES[f"to_{input.layout_name}"](empty_like(input._size, 2, like))
    made = empty_like(input._size, input._i.shape[0], like, dtype)
    if requires_grad:
        made._v.requires_grad_()
    return made


@rule("empty_like")
def empty_like_(input, **kwargs):
    """The same: nothing is uninitialised."""
    return zeros_like(input, **kwargs)


@rule("new_zeros new_empty")
def new_zeros(self, *size, dtype=None, device=None, layout=None, requires_grad=False, **_):
    """Without entries, of another size."""
    if isinstance(self, Compressed):
        refuse("new_zeros", (self,), {})
    size = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    like = self._v if device is None else self._v.to(device)
    made = empty_like(list(size), len(size), like, dtype)
    if requires_grad:
        made._v.requires_grad_()
    return made


@rule("new")
def new(self, *args, device=None):
    """The older constructor: of sizes, or of indices and values."""
    from rushlight._sparse.construction import sparse_coo_tensor

    if args and isinstance(args[0], Tensor):
        return sparse_coo_tensor(*args, dtype=self._v.dtype, device=device)
    size = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
    return new_zeros(self, list(size) or [0], device=device)
