"""Views and what moves elements, under vmap(): dimensions are counted behind the batch's."""

import math

from rushlight import _C, Tensor, broadcast_shapes
from rushlight._arguments import wrapped
from rushlight._func.dispatch import rule


def sizes_of(given):
    """Sizes that were given one by one or as one sequence."""
    if len(given) == 1 and isinstance(given[0], tuple | list):
        return tuple(given[0])
    return tuple(given)


def _known(sizes, numel):
    """Sizes without -1, which an empty batch could not tell."""
    sizes = list(sizes)
    if sizes.count(-1) == 1:
        rest = math.prod(s for s in sizes if s != -1)
        if rest and numel % rest == 0:
            sizes[sizes.index(-1)] = numel // rest
    return sizes


@rule("view reshape _unsafe_view")
def view(level, func, input, *shape, **kwargs):
    """view() and reshape() of each element."""
    shape = kwargs.get("shape", kwargs.get("size", sizes_of(shape)))
    if "dtype" in kwargs or (shape and not isinstance(shape[0], int)):
        return level.batched(input._value.view(kwargs.get("dtype", shape[0] if shape else None)))
    sizes = _known(shape, input.numel())
    if -1 in sizes or math.prod(sizes) != input.numel():
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {input.numel()}")
    change = _C.reshape if func.__name__ == "reshape" else _C.Tensor.view
    return level.batched(change(input._value, (level.size, *sizes)))


@rule("view_as reshape_as", inside=True)
def view_as(level, func, input, other):
    """The shape of another tensor."""
    return input.view(other.shape) if func.__name__ == "view_as" else input.reshape(other.shape)


@rule("expand broadcast_to")
def expand(level, func, input, *size, **kwargs):
    """Repeated without a copy."""
    size = kwargs.get("size", sizes_of(size))
    if len(size) < input.dim():
        raise RuntimeError(
            f"expand: the number of sizes provided ({len(size)}) must be greater or equal to the "
            f"number of dimensions in the tensor ({input.dim()})"
        )
    value = level.aligned(input, len(size))
    return level.batched(value.expand(level.size, *size))


@rule("expand_as", inside=True)
def expand_as(level, func, input, other):
    """Repeated to another's shape."""
    return input.expand(other.shape)


@rule("permute")
def permute(level, func, input, *dims, **kwargs):
    """Dimensions in another order."""
    dims = kwargs.get("dims", sizes_of(dims))
    rank = input.dim()
    if len(dims) != rank:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {rank} is not equal "
            f"to len(dims) = {len(dims)}".replace("(sparse_coo)", "")
        )
    return level.batched(input._value.permute(0, *[wrapped(d, rank) + 1 for d in dims]))


@rule("transpose swapaxes swapdims transpose_ swapaxes_ swapdims_")
def transpose(level, func, input, dim0, dim1):
    """Two dimensions exchanged."""
    rank = input.dim()
    a, b = wrapped(dim0, rank), wrapped(dim1, rank)
    made = input._value.transpose(a + 1, b + 1) if rank else input._value
    return _or_itself(level, func, input, made)


def _or_itself(level, func, input, made):
    if func.__name__.endswith("_"):
        input._value = made
        return input
    return level.batched(made)


@rule("t t_")
def t(level, func, input):
    """A matrix transposed."""
    if input.dim() > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.dim()}D")
    return _or_itself(level, func, input, input._value.mT if input.dim() == 2 else input._value)


@rule("get.T", inside=True)
def reversed_dims(level, func, input):
    """All dimensions of an element in reverse."""
    return input.permute(*range(input.dim() - 1, -1, -1))


def _transposed(input):
    if input.dim() < 2:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got "
            f"{input.dim()}-D tensor."
        )
    return input._value.mT


@rule("get.mT")
def matrices_transposed(level, func, input):
    """The matrices transposed."""
    return level.batched(_transposed(input))


@rule("get.mH get.H adjoint")
def adjoint(level, func, input):
    """The matrices transposed, and their numbers conjugated."""
    return level.batched(_C.conj(_transposed(input)))


@rule("unsqueeze unsqueeze_")
def unsqueeze(level, func, input, dim):
    """A dimension of size 1."""
    return _or_itself(level, func, input,
                      input._value.unsqueeze(wrapped(dim, input.dim() + 1) + 1))  # fmt: skip


@rule("squeeze squeeze_")
def squeeze(level, func, input, *dim, **kwargs):
    """Without dimensions of size 1, never the batch's."""
    dims = kwargs.get("dim", sizes_of(dim) if dim else range(input.dim()))
    dims = (dims,) if isinstance(dims, int) else dims
    rank, shape = input.dim(), input.shape
    dims = [wrapped(d, rank) for d in dims] if rank else []
    gone = tuple(d + 1 for d in dims if shape[d] == 1)
    return _or_itself(level, func, input, input._value.squeeze(gone) if gone else input._value)


@rule("flatten")
def flatten(level, func, input, start_dim=0, end_dim=-1):
    """A range of dimensions as one."""
    rank = input.dim()
    if not rank:
        return level.batched(input._value.unsqueeze(1))
    a, b = wrapped(start_dim, rank), wrapped(end_dim, rank)
    if a > b:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    return level.batched(input._value.flatten(a + 1, b + 1))


@rule("as_strided")
def as_strided(level, func, input, size, stride, storage_offset=None):
    """Any sizes and strides, counted from where each element begins."""
    value = input._value
    return level.batched(
        value.as_strided(
            (level.size, *size),
            (value.stride(0), *stride),
            value.storage_offset() + (storage_offset or 0),
        )
    )


@rule("ravel")
def ravel(level, func, input):
    """An element as one dimension."""
    return flatten(level, func, input)


@rule("unflatten")
def unflatten(level, func, input, dim, sizes):
    """One dimension as several."""
    return level.batched(input._value.unflatten(wrapped(dim, input.dim()) + 1, sizes))


@rule("select")
def select(level, func, input, dim, index):
    """One index of a dimension."""
    if isinstance(index, Tensor) or not level.holds(input) or not input.dim():
        return NotImplemented
    return level.batched(input._value.select(wrapped(dim, input.dim()) + 1, index))


@rule("narrow")
def narrow(level, func, input, dim, start, length):
    """A range of a dimension."""
    if isinstance(start, Tensor) or not level.holds(input):
        return NotImplemented
    return level.batched(input._value.narrow(wrapped(dim, input.dim()) + 1, start, length))


@rule("diagonal")
def diagonal(level, func, input, offset=0, dim1=0, dim2=1):
    """A diagonal of matrices."""
    rank = input.dim()
    return level.batched(input._value.diagonal(offset, wrapped(dim1, rank) + 1,
                                               wrapped(dim2, rank) + 1))  # fmt: skip


@rule("trace", inside=True)
def trace(level, func, input):
    """The sum of a matrix's diagonal."""
    return input.diagonal().sum()


@rule("unfold")
def unfold(level, func, input, dimension, size, step):
    """Windows of a dimension."""
    if not input.dim():
        return NotImplemented
    return level.batched(input._value.unfold(wrapped(dimension, input.dim()) + 1, size, step))


@rule("movedim moveaxis")
def movedim(level, func, input, source, destination):
    """Dimensions at other positions."""
    rank = input.dim()
    many = isinstance(source, tuple | list)
    shifted = [
        [wrapped(d, rank) + 1 for d in dims] if many else wrapped(dims, rank) + 1
        for dims in (source, destination)
    ]
    return level.batched(input._value.movedim(*shifted)) if rank else input


def _at_dim(level, func, input, first, dim=0):
    if not input.dim():
        return NotImplemented
    return level.wrap(func(input._value, first, wrapped(dim, input.dim()) + 1))


@rule("split split_with_sizes chunk unsafe_split unsafe_split_with_sizes unsafe_chunk")
def split(level, func, input=None, size=None, dim=0, **kwargs):
    """Parts of a dimension."""
    input = kwargs.pop("tensor", input)
    given = [*kwargs.values(), size]
    return _at_dim(level, func, input, given[0], dim)


@rule("tensor_split")
def tensor_split(level, func, input, indices_or_sections=None, dim=0, **kwargs):
    """Parts of a dimension."""
    given = [*kwargs.values(), indices_or_sections][0]
    return NotImplemented if isinstance(given, Tensor) else _at_dim(level, func, input, given, dim)


@rule("unbind")
def unbind(level, func, input, dim=0):
    """Each index of a dimension."""
    if not input.dim():
        return NotImplemented
    return level.wrap(input._value.unbind(wrapped(dim, input.dim()) + 1))


@rule("cat concat concatenate")
def cat(level, func, tensors, dim=0):
    """Tensors one after another."""
    rank = max(x.dim() for x in tensors)
    kept = [x for x in tensors if x.dim() == rank or x.numel()]  # torch's old empty tensor
    if any(x.dim() != rank for x in kept) or not rank:
        return NotImplemented
    return level.batched(_C.cat([level.spread(x) for x in kept], wrapped(dim, rank) + 1))


@rule("stack")
def stack(level, func, tensors, dim=0):
    """Tensors along a new dimension."""
    rank = max(x.dim() for x in tensors)
    return level.batched(_C.stack([level.spread(x) for x in tensors], wrapped(dim, rank + 1) + 1))


@rule("repeat tile")
def repeat(level, func, input, *repeats, **kwargs):
    """Copies beside each other."""
    repeats = kwargs.get("repeats", kwargs.get("dims", sizes_of(repeats)))
    if len(repeats) < input.dim():
        if func.__name__ == "repeat":
            raise RuntimeError(
                "Number of dimensions of repeat dims can not be smaller than number of dimensions "
                "of tensor"
            )
        repeats = (1,) * (input.dim() - len(repeats)) + tuple(repeats)
    value = level.aligned(input, len(repeats))
    return level.batched(value.repeat(1, *repeats))


@rule("repeat_interleave")
def repeat_interleave(level, func, input, repeats, dim=None, *, output_size=None):
    """Each index several times."""
    if not isinstance(repeats, int) or not input.dim():
        return NotImplemented
    value, at = (input._value.flatten(1), 0) if dim is None else (input._value, dim)
    at = wrapped(at, value.dim() - 1) + 1
    return level.batched(value.repeat_interleave(repeats, at, output_size=output_size))


@rule("flip")
def flip(level, func, input, *dims, **kwargs):
    """In reverse."""
    dims = kwargs.get("dims", sizes_of(dims))
    rank = input.dim()
    return level.batched(input._value.flip([wrapped(d, rank) + 1 for d in dims])) if rank else input


@rule("roll")
def roll(level, func, input, shifts, dims=()):
    """Moved around."""
    many = isinstance(dims, tuple | list)
    if not input.dim() or (many and not dims):
        return NotImplemented
    rank = input.dim()
    shifted = [wrapped(d, rank) + 1 for d in dims] if many else wrapped(dims, rank) + 1
    return level.batched(input._value.roll(shifts, shifted))


@rule("tril triu")
def triangle(level, func, input, diagonal=0):
    """Of the last two dimensions."""
    return level.batched(func(input._value, diagonal)) if input.dim() > 1 else NotImplemented


@rule("diag_embed")
def diag_embed(level, func, input, offset=0, dim1=-2, dim2=-1):
    """Diagonals of new matrices."""
    rank = input.dim() + 1
    return level.batched(func(input._value, offset, wrapped(dim1, rank) + 1,
                              wrapped(dim2, rank) + 1))  # fmt: skip


@rule("diag")
def diag(level, func, input, diagonal=0):
    """A matrix of a diagonal, or a diagonal of a matrix."""
    if input.dim() == 1:
        return level.batched(_C.diag_embed(input._value, diagonal))
    return level.batched(input._value.diagonal(diagonal, 1, 2).clone())


@rule("broadcast_tensors", inside=True)
def broadcast_tensors(level, func, *tensors):
    """All of one shape."""
    tensors = sizes_of(tensors)
    shape = broadcast_shapes(*[x.shape for x in tensors])
    return tuple(x.expand(shape) for x in tensors)


@rule("constant_pad_nd _pad_circular _pad_mirrored pixel_shuffle pixel_unshuffle")
def last_dims(level, func, input, *args, **kwargs):
    """Of the last dimensions, whatever is before them."""
    return level.batched(func(input._value, *args, **kwargs))


@rule("as_strided_scatter")
def as_strided_scatter(level, func, input, src, size, stride, storage_offset=None):
    """A copy with a strided view of it replaced."""
    found = level.spread(input).contiguous().clone()
    source = level.aligned(src, len(size))
    return level.batched(func(found, source.expand(level.size, *size), (level.size, *size),
                              (found.stride(0), *stride), storage_offset or 0))  # fmt: skip


@rule("hstack vstack dstack column_stack", inside=True)
def beside(level, func, tensors):
    """Tensors beside, below or behind each other."""
    name = func.__name__
    if name == "column_stack":
        return _C.cat([x.reshape(-1, 1) if x.dim() < 2 else x for x in tensors], 1)
    least = {"hstack": 1, "vstack": 2, "dstack": 3}[name]
    return _C.cat([_at_least(x, least) for x in tensors], _stacked_dim(name, tensors))


def _stacked_dim(name, tensors):
    if name == "hstack":
        return 0 if all(x.dim() < 2 for x in tensors) else 1
    return {"vstack": 0, "dstack": 2}[name]


def _at_least(x, rank):
    if not x.dim():
        x = x.reshape(1)
    if x.dim() == 1 and rank > 1:
        x = x.unsqueeze(0)
    return x.unsqueeze(2) if x.dim() == 2 and rank > 2 else x
