"""Sums, norms and softmax of sparse tensors."""

import operator

from rushlight import _C
from rushlight._arguments import wrapped
from rushlight._sparse.dispatch import RULES, refuse, rule
from rushlight._sparse.entries import coalesced, places, summed
from rushlight._sparse.tensor import Compressed, coordinates, is_sparse, with_values


def _dims(x, dim):
    dims = [dim] if isinstance(dim, int) else list(dim)
    dims = [wrapped(d, len(x._size)) for d in dims]
    if len(set(dims)) != len(dims):
        raise RuntimeError(f"dim {dims[0]} appears multiple times in the list of dims")
    return sorted(dims)


def sum_of(x, dim=None, dtype=None, node="SparseSumBackward0"):
    """The sum of all elements, or over some dimensions: sparse where sparse ones are left."""
    if isinstance(x, Compressed):
        if dim is not None:
            refuse("sum.dim_IntList", (x,), {})
        return x._v.sum(dtype=dtype)
    if dim is None:
        return x._v.sum(dtype=dtype)
    dims, count = _dims(x, dim), x._i.shape[0]
    values = x._v if dtype is None else x._v.to(dtype)
    inner = [d - count + 1 for d in dims if d >= count]
    if inner:
        values = values.sum(inner)
    elif dtype is None and not values.is_floating_point() and not values.is_complex():
        values = values.to(_C.int64)
    size = [n for d, n in enumerate(x._size) if d not in dims]
    left = [d for d in range(count) if d not in dims]
    if not left:
        return values.sum(0)
    return coalesced(coordinates(x._i[left], values, size, x._coalesced and len(left) == count),
                     node)  # fmt: skip


@rule("sum")
def sum(input, dim=None, keepdim=False, *, dtype=None):
    """The sum; over no dimensions, the tensor."""
    if dim is None:
        return sum_of(input, None, dtype)
    if not isinstance(input, Compressed) and not isinstance(dim, int) and not dim:
        return coalesced(input)
    found = sum_of(input, dim, dtype, "SumBackward1")
    if not keepdim:
        return found
    dims = _dims(input, dim)
    if not is_sparse(found):
        shape = [1 if d in dims else n for d, n in enumerate(input._size)]
        return found.reshape(shape).to_sparse()
    for d in dims:
        found = RULES["unsqueeze"](found, d)
    return coordinates(found._i, found._v, found._size, True, "SumBackward1")


@rule("any")
def any(input, dim=None, keepdim=False):
    """Whether a value is not zero."""
    if dim is not None:
        refuse("any.dim", (input,), {})
    return coalesced(input)._v.any() if not isinstance(input, Compressed) else input._v.any()


@rule("norm")
def norm(input, p="fro", dim=None, keepdim=False, dtype=None):
    """The norm of all elements."""
    if dim is not None and len(dim if not isinstance(dim, int) else [dim]) != len(input._size):
        raise RuntimeError(
            "norm_sparse currently only supports full reductions, so 'dim' must "
            "either be empty or contain all dimensions of the input"
        )
    if keepdim:
        raise RuntimeError("norm_sparse currently does not support keepdim=True")
    if dtype is not None:
        raise RuntimeError("norm_sparse currently does not support 'dtype' argument")
    x = input if isinstance(input, Compressed) else coalesced(input)
    return x._v.norm(2 if p in ("fro", None) else p)


@rule("native_norm")
def native_norm(input, p=2, *args):
    """The norm of all elements."""
    return norm(input, p)


@rule("item")
def item(input):
    """The number of a tensor of one element."""
    if input._size.numel() != 1:
        raise RuntimeError(
            f"a Tensor with {input._size.numel()} elements cannot be converted to Scalar"
        )
    return RULES["to_dense"](input).item()


for _kind in (int, float, complex):
    rule(f"number.{_kind.__name__}")(lambda input, kind=_kind: kind(item(input)))
rule("number.index")(lambda input: operator.index(item(input)))


@rule("is_nonzero")
def is_nonzero(input):
    """Of a tensor of one element."""
    return bool(input)


def softmax_of(x, dim, dtype, logarithm):
    """softmax over the entries that are there, as torch.sparse.softmax has it."""
    node = "SparseLogSoftmaxBackward0" if logarithm else "SparseSoftmaxBackward0"
    x = coalesced(x)
    dim = wrapped(dim, len(x._size))
    values, count = x._v if dtype is None else x._v.to(dtype), x._i.shape[0]
    if not values.is_floating_point():
        refuse("softmax", (x,), {})
    if dim >= count:
        function = _C.log_softmax if logarithm else _C.softmax
        return with_values(x, function(values, dim - count + 1), node)
    others = places(x, [d for d in range(count) if d != dim])
    kept, groups = others.unique(return_inverse=True)
    groups_of = groups.reshape(-1, *[1] * (values.dim() - 1)).expand(values.shape)
    shape = (kept.shape[0], *values.shape[1:])
    lowest = _C.full(shape, float("-inf"), dtype=values.dtype, device=values.device)
    highest = lowest.scatter_reduce(0, groups_of, values.detach(), "amax")
    shifted = values - highest.index_select(0, groups)
    raised = shifted.exp()
    sums = summed(raised, groups, kept.shape[0])
    if logarithm:
        return with_values(x, shifted - sums.log().index_select(0, groups), node)
    return with_values(x, raised / sums.index_select(0, groups), node)
