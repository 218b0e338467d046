"""Sparse tensors with other dimensions: transposed, permuted, unsqueezed."""

from rushlight._arguments import wrapped
from rushlight._sparse.dispatch import RULES, refuse, rule
from rushlight._sparse.tensor import ByColumns, ByRows, Compressed, compressed, coordinates


def permuted(x, dims, node):
    """The dimensions in another order; the sparse ones stay in front."""
    count = x._i.shape[0]
    if sorted(dims[:count]) != list(range(count)):
        raise RuntimeError(
            "permute(sparse_coo): transpositions between sparse and dense dimensions are not "
            "allowed."
            f"\nthe first {count} of {len(dims)} dimensions are sparse, got {tuple(dims)}"
        )
    size = [x._size[d] for d in dims]
    inner = [0, *[d - count + 1 for d in dims[count:]]]
    same = list(dims[:count]) == list(range(count))
    indices = x._i if same else x._i[list(dims[:count])]
    values = (x._v if inner == sorted(inner) else x._v.permute(inner)).clone()
    coalesced = x._coalesced and (same or x._v.shape[0] < 2)
    return coordinates(indices, values, size, coalesced, node)


@rule("permute")
def permute(input, *dims):
    """Any order of the sparse dimensions."""
    dims = list(dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims)
    if len(dims) != len(input._size):
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {len(input._size)} "
            f"is not equal to len(dims) = {len(dims)}"
        )
    dims = [wrapped(d, len(dims)) for d in dims]
    if len(set(dims)) != len(dims):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    if isinstance(input, Compressed):
        refuse("permute", (input,), {})
    return permuted(input, dims, "PermuteBackward0")


@rule("transpose swapaxes swapdims")
def transpose(input, dim0, dim1, node="TransposeBackward0"):
    """Two dimensions swapped."""
    rank = len(input._size)
    dim0, dim1 = wrapped(dim0, rank), wrapped(dim1, rank)
    if isinstance(input, Compressed):
        if dim0 == dim1:
            return input
        kind = ByColumns if isinstance(input, ByRows) else ByRows
        return compressed(kind, input._c, input._p, input._v.clone(), input._size[::-1], node)
    count = input._i.shape[0]
    if dim0 >= count or dim1 >= count:
        raise RuntimeError(
            "sparse transpose: transposed dimensions must be sparse Got sparse_dim: "
            f"{count}, d0: {dim0}, d1: {dim1}"
        )
    dims = list(range(rank))
    dims[dim0], dims[dim1] = dim1, dim0
    return permuted(input, dims, node)


@rule("t")
def t(input):
    """A matrix transposed."""
    if len(input._size) > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {len(input._size)}D"
        )
    return transpose(input, 0, -1, "TBackward0") if len(input._size) == 2 else input


@rule("get.T")
def reversed(x):
    """All dimensions in reverse order."""
    if isinstance(x, Compressed):
        return t(x)
    return permute(x, *range(len(x._size) - 1, -1, -1))


@rule("get.mT get.mH adjoint")
def matrix_transpose(x):
    """The last two dimensions swapped."""
    return transpose(x, -2, -1)


@rule("get.H")
def adjoint(x):
    """A matrix transposed."""
    if len(x._size) != 2:
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {len(x._size)}-D tensor."
        )
    return RULES["conj"](transpose(x, 0, 1))


@rule("movedim moveaxis")
def movedim(input, source, destination):
    """Dimensions moved to other places."""
    rank = len(input._size)
    source = [wrapped(d, rank) for d in ([source] if isinstance(source, int) else source)]
    destination = [destination] if isinstance(destination, int) else destination
    destination = [wrapped(d, rank) for d in destination]
    order = [d for d in range(rank) if d not in source]
    for to, place in sorted(zip(destination, source, strict=True)):
        order.insert(to, place)
    return permute(input, *order)


@rule("unsqueeze")
def unsqueeze(input, dim):
    """A dimension of size 1 more."""
    if isinstance(input, Compressed):
        refuse("unsqueeze", (input,), {})
    dim = wrapped(dim, len(input._size) + 1)
    count, node = input._i.shape[0], "UnsqueezeBackward0"
    size = [*input._size[:dim], 1, *input._size[dim:]]
    if dim > count:
        return coordinates(
            input._i, input._v.unsqueeze(dim - count + 1), size, input._coalesced, node
        )
    from rushlight import _C

    zeros = _C.zeros((1, input._i.shape[1]), dtype=_C.int64, device=input._i.device)
    indices = _C.cat([input._i[:dim], zeros, input._i[dim:]])
    return coordinates(indices, input._v.clone(), size, indices.shape[1] < 2, node)
