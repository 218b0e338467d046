"""cat() and stack() of sparse tensors."""

from rushlight import _C
from rushlight._arguments import wrapped
from rushlight._sparse.dispatch import RULES, refuse, rule
from rushlight._sparse.tensor import Coordinates, coordinates, is_sparse


def joined(tensors, dim, node="CatBackward0"):
    """Sparse tensors one after another along a dimension."""
    for i, x in enumerate(tensors):
        if not is_sparse(x):
            raise RuntimeError(
                f"Concatenating sparse tensors, but a dense tensor was found at position {i}."
            )
        if not isinstance(x, Coordinates):
            refuse("cat", tensors, {})
    first = tensors[0]
    dim, count = wrapped(dim, len(first._size)), first._i.shape[0]
    for i, x in enumerate(tensors):
        others = [n for d, n in enumerate(x._size) if d != dim]
        if others != [n for d, n in enumerate(first._size) if d != dim]:
            raise RuntimeError(
                f"All tensors must have the same shape: {list(first._size)} (except in the "
                f"concatenating dimension), but found shape: {list(x._size)} at position {i}."
            )
        if x._i.shape[0] != count:
            raise RuntimeError(
                "All tensors must have the same number of sparse and dense dimensions: tensor at "
                f"position {i} has {x._i.shape[0]} sparse ones, and the first has {count}"
            )
    dtype = first._v.dtype
    for x in tensors[1:]:
        dtype = _C.promote_types(dtype, x._v.dtype)
    total = sum(x._size[dim] for x in tensors)
    size = [total if d == dim else n for d, n in enumerate(first._size)]
    indices, values, at = [], [], 0
    for x in tensors:
        part, v = x._i, x._v.to(dtype)
        if dim < count:
            part = part.clone()
            part[dim] += at
        else:
            inner, before = dim - count + 1, at
            after = total - at - x._size[dim]
            padding = [0, 0] * (v.dim() - inner - 1) + [before, after]
            v = _C.constant_pad_nd(v, padding)
        indices.append(part)
        values.append(v)
        at += x._size[dim]
    return coordinates(_C.cat(indices, 1), _C.cat(values), size, False, node)


def _listed(name, tensors):
    if not isinstance(tensors, (tuple, list)) or not tensors:
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
            f"{type(tensors).__name__}"
        )
    return list(tensors)


@rule("cat concat concatenate")
def cat(tensors, dim=0):
    """One after another."""
    return joined(_listed("cat", tensors), dim)


@rule("stack")
def stack(tensors, dim=0):
    """Along a new dimension."""
    tensors = _listed("stack", tensors)
    for i, x in enumerate(tensors):
        if not is_sparse(x):
            raise RuntimeError(
                f"Concatenating sparse tensors, but a dense tensor was found at position {i}."
            )
    dim = wrapped(dim, len(tensors[0]._size) + 1)
    return joined([RULES["unsqueeze"](x, dim) for x in tensors], dim, "StackBackward0")


@rule("hstack")
def hstack(tensors):
    """Side by side."""
    tensors = _listed("hstack", tensors)
    return joined(tensors, 1 if tensors[0].dim() > 1 else 0)


@rule("vstack row_stack")
def vstack(tensors):
    """One below another."""
    tensors = _listed("vstack", tensors)
    if tensors[0].dim() == 1:
        tensors = [RULES["unsqueeze"](x, 0) for x in tensors]
    return joined(tensors, 0)
