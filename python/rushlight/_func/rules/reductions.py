"""Reductions, scans and sorts under vmap(): of the dimensions behind the batch's."""

from rushlight import _C, Tensor
from rushlight._arguments import wrapped
from rushlight._func.dispatch import rule
from rushlight._func.rules.elements import pointwise


def shifted(dim, rank):
    """A dimension or several, counted behind the batch's."""
    if isinstance(dim, tuple | list):
        return tuple(wrapped(d, rank) + 1 for d in dim)
    return wrapped(dim, rank) + 1


def _reduce(level, func, input, before, dim, options):
    # A number is a dimension of size 1, which the result loses.
    value, rank = input._value, input.dim()
    if not rank:
        shifted(() if dim is None else dim, 0)
        value = value.unsqueeze(1)
        options = {**options, "keepdim": False} if "keepdim" in options else options
        dim = 1
    else:
        empty = dim is None or (isinstance(dim, tuple | list) and not dim)
        dim = tuple(range(1, rank + 1)) if empty else shifted(dim, rank)
    return level.wrap(func(value, *before, dim=dim, **options))


@rule("sum mean nansum amax amin logsumexp count_nonzero all any")
def reduction(level, func, input, dim=None, keepdim=False, **options):
    """Of all dimensions of an element, or some."""
    if not level.holds(input):
        return NotImplemented
    if keepdim or func.__name__ != "count_nonzero":
        options["keepdim"] = keepdim
    return _reduce(level, func, input, (), dim, options)


@rule("prod")
def prod(level, func, input, dim=None, keepdim=False, **options):
    """Of one dimension, or of all."""
    return _of_one(level, func, input, dim, keepdim, options)


def _of_one(level, func, input, dim, keepdim, options):
    if dim is None:
        input = level.batched(input._value.reshape(level.size, input.numel()))
        dim, keepdim = 0, False
    return _reduce(level, func, input, (), dim, {"keepdim": keepdim, **options})


@rule("argmax argmin")
def argmax(level, func, input, dim=None, keepdim=False):
    """The index of the largest."""
    if dim is None and keepdim:
        return NotImplemented
    return _of_one(level, func, input, dim, keepdim, {})


@rule("var std var_mean std_mean")
def var(level, func, input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """Variance, where a second positional argument may say whether it is unbiased."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = int(unbiased)
    return _reduce(level, func, input, (), dim, {"keepdim": keepdim, "correction": correction})


@rule("max min")
def max_min(level, func, input, dim=None, keepdim=False, **options):
    """Of all, of a dimension with its indices, or of two tensors."""
    other = options.get("other", dim)
    if isinstance(other, Tensor):
        return pointwise(level, func, input, other)
    if dim is None:
        return reduction(level, _C.amax if func.__name__ == "max" else _C.amin, input)
    return _with_indices(level, func, input, (), dim, keepdim=keepdim)


def _with_indices(level, func, input, before, dim, **options):
    rank = input.dim()
    if not rank:
        return NotImplemented
    return level.wrap(func(input._value, *before, dim=wrapped(dim, rank) + 1, **options))


@rule("median nanmedian mode")
def median(level, func, input, dim=None, keepdim=False):
    """Of all, or of a dimension with its indices."""
    if dim is None and func.__name__ != "mode":
        return level.wrap(func(input._value.flatten(1) if input.dim() else input._value[:, None],
                               dim=1)[0])  # fmt: skip
    return _with_indices(level, func, input, (), -1 if dim is None else dim, keepdim=keepdim)


@rule("kthvalue topk")
def kth(level, func, input, k, dim=-1, *args, **options):
    """The k-th or the first k of a dimension."""
    names = ("keepdim",) if func.__name__ == "kthvalue" else ("largest", "sorted")
    options |= dict(zip(names, args, strict=False))
    return _with_indices(level, func, input, (k,), dim, **options)


@rule("sort argsort")
def sort(level, func, input, dim=-1, descending=False, stable=False):
    """A dimension in order."""
    return _with_indices(level, func, input, (), dim, descending=descending, stable=stable)


@rule("cumsum cumprod logcumsumexp cummax cummin softmax log_softmax")
def scan(level, func, input, dim, *args, **options):
    """Along a dimension, with a result of the same shape."""
    value, rank = input._value, input.dim()
    at = wrapped(dim, rank) + 1
    if rank:
        return level.wrap(func(value, at, *args, **options))
    found = func(value.unsqueeze(1), 1, *args, **options)
    return level.wrap(tuple(x.squeeze(1) for x in found) if isinstance(found, tuple)
                      else found.squeeze(1))  # fmt: skip


@rule("F.softmax F.log_softmax F.softmin")
def softmax(level, func, input, dim=None, _stacklevel=3, dtype=None):
    """Of torch.nn.functional, where dim may be left to the rank."""
    if dim is None:
        dim = 0 if input.dim() in (0, 1, 3) else 1
    return scan(level, func, input, dim, dtype=dtype)


@rule("F.glu")
def glu(level, func, input, dim=-1):
    """The halves of a dimension of an element, which a number has not."""
    if not input.dim():
        return NotImplemented
    return level.batched(func(input._value, wrapped(dim, input.dim()) + 1))


@rule("trapezoid cumulative_trapezoid")
def trapezoid(level, func, y, x=None, *, dim=-1, **options):
    """Areas under curves, at points that may be each element's own."""
    if not y.dim():
        return NotImplemented
    at = wrapped(dim, y.dim()) + 1
    if x is None:
        return level.batched(func(y._value, dim=at, **options))
    if level.holds(x) and x.dim() == 1:
        x = x._value.reshape(-1, *[1] * (at - 1), x.shape[0], *[1] * (y.dim() - at))
    elif x.dim() == y.dim():
        x = level.spread(x)
    elif x.dim() != 1:
        return NotImplemented
    return level.batched(func(level.spread(y), x, dim=at))


@rule("quantile nanquantile")
def quantile(level, func, input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """Quantiles, of scalars or a tensor that all share."""
    if (isinstance(q, Tensor) and (level.holds(q) or q.dim())) or not input.dim():
        return NotImplemented
    if dim is None:
        if keepdim:
            return NotImplemented
        input, dim = level.batched(input._value.reshape(level.size, input.numel())), 0
    return level.batched(func(input._value, q, dim=wrapped(dim, input.dim()) + 1, keepdim=keepdim,
                              interpolation=interpolation))  # fmt: skip


@rule("norm")
def norm(level, func, input, p="fro", dim=None, keepdim=False, dtype=None):
    """torch.norm of vectors."""
    if p == "nuc":
        return NotImplemented
    order = 2 if p in ("fro", None) else p
    return vector_norm(level, _C._linalg_vector_norm, input, order, dim, keepdim, dtype=dtype)


@rule("_linalg_vector_norm vector_norm")
def vector_norm(level, func, input, ord=2, dim=None, keepdim=False, *, dtype=None):
    """The norm of all elements, or along dimensions."""
    return _reduce(level, func, input, (ord,), dim, {"keepdim": keepdim, "dtype": dtype})
