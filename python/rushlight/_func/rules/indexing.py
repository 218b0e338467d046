"""Indices under vmap(): x[...], gather, scatter, index_select and their like."""

from rushlight import _C, Tensor
from rushlight._arguments import wrapped
from rushlight._func.dispatch import IN_PLACE, looped, rule

_BOOL = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to "
    "batch over indexing with a boolean mask."
)


def _key(key):
    # The parts of an index, lists of ints as tensors.
    parts = list(key) if isinstance(key, tuple) else [key]
    return [_C.tensor(k) if isinstance(k, list | range) else k for k in parts]


def _width(part):
    # How many dimensions a part of an index takes.
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    return part.dim() if isinstance(part, Tensor) and part.dtype == _C.bool else 1


def _complete(parts, rank):
    # The parts with an Ellipsis written out; masks as the indices of what they hold.
    used = sum(map(_width, parts))
    if used > rank:
        raise IndexError(f"too many indices for tensor of dimension {rank}")
    at = [i for i, k in enumerate(parts) if k is Ellipsis]
    missing = [slice(None)] * (rank - used)
    if at:
        parts = [*parts[: at[0]], *missing, *parts[at[0] + 1 :]]
    else:
        parts = [*parts, *missing]
    made = []
    for k in parts:
        mask = isinstance(k, Tensor) and k.dtype == _C.bool
        made += k.nonzero(as_tuple=True) if mask else [k]
    return made


@rule("getitem")
def getitem(level, func, input, key):
    """x[...], where x, an index in it, or both have the batch."""
    parts = _key(key)
    if any(isinstance(k, bool) for k in parts):
        return NotImplemented
    tensors = [k for k in parts if isinstance(k, Tensor)]
    if any(level.holds(k) and k.dtype == _C.bool for k in tensors):
        raise RuntimeError(_BOOL)
    if not tensors:
        return level.batched(input._value[(slice(None), *parts)])
    parts = _complete(parts, input.dim())
    value = level.spread(input)
    if any(isinstance(k, slice) and level.found((k.start, k.stop)) for k in parts):
        return NotImplemented
    # Numbers, slices and new dimensions first; what is left is a slice or an index for each.
    value = value[(slice(None), *(slice(None) if isinstance(k, Tensor) else k for k in parts))]
    left = [k if isinstance(k, Tensor) else slice(None) for k in parts if not isinstance(k, int)]
    at = [i for i, k in enumerate(left) if isinstance(k, Tensor)]
    rank = max(left[i].dim() for i in at)
    batch = _C.arange(level.size, device=value.device).reshape(-1, *[1] * rank)
    index = [level.aligned(k, rank) if isinstance(k, Tensor) else k for k in left]
    found = value[(batch, *index)]  # the batch, the dimensions of the indices, those of slices
    first = at[0] if at == list(range(at[0], at[-1] + 1)) else 0
    if at[0] == 0:
        return level.batched(found)
    if first and rank:
        found = found.movedim(tuple(range(1, rank + 1)), tuple(range(first + 1, first + 1 + rank)))
    return level.batched(found)


@rule("setitem_")
def setitem(level, func, input, key, value):
    """x[...] = value, where x has the batch."""
    if not level.holds(input):
        raise RuntimeError(IN_PLACE)
    parts = _key(key)
    if any(isinstance(k, Tensor | bool) for k in parts):
        return looped(level, func, (input, key, value), {}, "setitem_")
    place = input._value[(slice(None), *parts)]
    place.copy_(level.aligned(value, place.ndim - 1)) if isinstance(value, Tensor) else place.fill_(
        value
    )
    return None


@rule("index_select")
def index_select(level, func, input, dim, index):
    """Some indices of a dimension, which may be each element's own."""
    rank = input.dim()
    if not rank or index.dim() != 1:
        return NotImplemented
    at = wrapped(dim, rank)
    if not level.holds(index):
        return level.batched(func(input._value, at + 1, index))
    return getitem(level, func, input, (*[slice(None)] * at, index))


def _all(level, tensors):
    return [level.spread(x) if isinstance(x, Tensor) and x.dim() else level.value(x)
            for x in tensors]  # fmt: skip


@rule("gather scatter scatter_add scatter_reduce")
def gather(level, func, input, dim, *rest, **options):
    """Along a dimension, with indices that have the dimensions of the element."""
    tensors = [x for x in (input, *rest, *options.values()) if isinstance(x, Tensor)]
    if any(not x.dim() for x in tensors):
        return NotImplemented
    at = wrapped(dim, input.dim()) + 1
    options = {k: level.spread(x) if isinstance(x, Tensor) else x for k, x in options.items()}
    return level.batched(func(level.spread(input), at, *_all(level, rest), **options))


@rule("scatter_ scatter_add_ scatter_reduce_")
def scatter_in_place(level, func, input, dim, *rest, **options):
    """The same, written to the first argument."""
    if not level.holds(input):
        raise RuntimeError(IN_PLACE)
    gather(level, func, input, dim, *rest, **options)
    return input


@rule("take_along_dim")
def take_along_dim(level, func, input, indices, dim=None):
    """Along a dimension, or of all elements in order."""
    if dim is None or input.dim() != indices.dim() or not input.dim():
        return NotImplemented
    return level.batched(func(level.spread(input), level.spread(indices),
                              wrapped(dim, input.dim()) + 1))  # fmt: skip


@rule("index_add index_copy")
def index_add(level, func, input, dim, index, source, **options):
    """Added, or copied, at indices that all elements share."""
    if level.holds(index) or not input.dim() or input.dim() != source.dim():
        return NotImplemented
    return level.batched(func(level.spread(input), wrapped(dim, input.dim()) + 1, index,
                              level.spread(source), **options))  # fmt: skip


@rule("index_reduce")
def index_reduce(level, func, input, dim, index, source, reduce, *, include_self=True):
    """Joined with what is there, at indices that may be each element's own."""
    if not input.dim() or input.dim() != source.dim() or index.dim() != 1:
        return NotImplemented
    at, options = wrapped(dim, input.dim()) + 1, {"include_self": include_self}
    first, second = level.spread(input), level.spread(source)
    if not level.holds(index):
        return level.batched(func(first, at, index, second, reduce, **options))
    if index.shape[0] != source.shape[at - 1]:
        return NotImplemented
    wide = index._value.reshape(-1, *[1] * (at - 1), index.shape[0], *[1] * (source.dim() - at))
    return level.batched(
        _C.scatter_reduce(first, at, wide.expand_as(second), second, reduce, **options)
    )


@rule("index_fill")
def index_fill(level, func, input, dim, index, value):
    """Filled at indices that all elements share."""
    if level.holds(index) or level.holds(value) or not input.dim():
        return NotImplemented
    return level.batched(func(input._value, wrapped(dim, input.dim()) + 1, index, value))


@rule("embedding")
def embedding(level, func, weight, indices, padding_idx=-1, *rest, **options):
    """Rows of a table, which may be each element's own."""
    if not level.holds(weight):
        return level.batched(func(weight, indices._value, padding_idx, *rest, **options))
    if padding_idx >= 0 or weight.dim() != 2:
        return NotImplemented
    if any(rest) or any(options.values()):
        return NotImplemented
    return getitem(level, func, weight, indices)


@rule("one_hot")
def one_hot(level, func, tensor, num_classes=-1):
    """Of a number of classes that is given."""
    if num_classes < 0:
        raise RuntimeError(
            "Expected num_classes to be given explicitly: under vmap the classes of each element "
            "would make another shape"
        )
    return level.batched(func(tensor._value, num_classes))


@rule("bucketize")
def bucketize(level, func, input, boundaries, **options):
    """The index of each number's interval."""
    if level.holds(boundaries):
        return NotImplemented
    return level.batched(func(input._value, boundaries, **options))


@rule("searchsorted")
def searchsorted(level, func, sorted_sequence, input, **options):
    """The same, with rows of boundaries."""
    if any(isinstance(x, Tensor) for x in options.values()):
        return NotImplemented
    if sorted_sequence.dim() != 1 and sorted_sequence.dim() != getattr(input, "dim", int)():
        return NotImplemented
    if not level.holds(sorted_sequence) and sorted_sequence.dim() == 1:
        return level.batched(func(sorted_sequence, input._value, **options))
    if not isinstance(input, Tensor) or input.dim() != sorted_sequence.dim():
        return NotImplemented
    return level.batched(func(level.spread(sorted_sequence).contiguous(), level.spread(input),
                              **options))  # fmt: skip
