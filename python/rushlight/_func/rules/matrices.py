"""Products and linear algebra under vmap(): one product with the batch in front, and a plain matrix
multiplied with all elements at once.
"""

import functools
import math

from rushlight import _C, Tensor
from rushlight._arguments import wrapped
from rushlight._func.batched import padded
from rushlight._func.dispatch import rule
from rushlight._func.rules.factories import check_draws


def _product(level, a, b):
    # The value of matmul; a and b are tensors, of which at least one has a batch.
    rank_a, rank_b = a.dim(), b.dim()
    held_a, held_b = level.holds(a), level.holds(b)
    if not rank_a or not rank_b:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {rank_a}D and {rank_b}D"
        )
    if not held_b and rank_b <= 2:
        return _C.matmul(a._value, b)
    if not held_a and rank_b == 1 and rank_a == 2:
        return _C.matmul(b._value, a.mT)
    first, second = level.value(a), level.value(b)
    if rank_a == 1:
        first = first.unsqueeze(-2)
    if rank_b == 1:
        second = second.unsqueeze(-1)
    rank = max(rank_a, rank_b, 2) + 1
    found = _C.matmul(padded(first, rank) if held_a else first,
                      padded(second, rank) if held_b else second)  # fmt: skip
    if rank_a == 1:
        found = found.squeeze(-2)
    return found.squeeze(-1) if rank_b == 1 else found


@rule("matmul")
def matmul(level, func, input, other):
    """The product, of vectors and matrices as of more dimensions."""
    return level.batched(_product(level, input, other))


@rule("rmatmul")
def rmatmul(level, func, input, other):
    """other @ input."""
    return level.batched(_product(level, other, input))


_RANKS = {"mm": (2, 2), "bmm": (3, 3), "mv": (2, 1), "dot": (1, 1), "vdot": (1, 1)}
_WORDS = {
    "mm": "Shape mismatch: Got incorrect dims for mm(a, b). a has dim {}and b has dim {}but "
    "expected them to have dim 2 and dim 2",
    "bmm": "Shape mismatch: Got incorrect dims for bmm(a, b). a has dim {}and b has dim {}but "
    "expected them to have dim 3 and dim 3",
    "mv": "Shape mismatch: got incorrect dims for mv(a, b). a has dim {}and b has dim {}but "
    "expected them to have dim 2 and dim 1",
}


@rule("mm bmm mv dot")
def ranked(level, func, input, other=None, **kwargs):
    """Products of tensors of given ranks."""
    for x in kwargs.values():
        other = x
    name, found = func.__name__, (input.dim(), other.dim())
    if found != _RANKS[name]:
        raise RuntimeError(_WORDS.get(name, "Got wrong shapes for dot").format(*found))
    if input.shape[-1] != other.shape[0 if len(other.shape) == 1 else -2] or (
        name == "bmm" and input.shape[0] != other.shape[0]
    ):
        raise RuntimeError(
            f"{name}(): sizes do not fit: {list(input.shape)} and {list(other.shape)}"
        )
    return level.batched(_product(level, input, other))


@rule("outer ger", inside=True)
def outer(level, func, input, vec2):
    """Each element of one vector times each of the other."""
    if input.dim() != 1 or vec2.dim() != 1:
        raise RuntimeError(
            f"outer: Expected 1-D argument self and vec2, got {input.dim()}-D and {vec2.dim()}-D"
        )
    return input.unsqueeze(1) * vec2.unsqueeze(0)


@rule("tensordot", inside=True)
def tensordot(level, func, a, b, dims=2):
    """Products summed over dimensions of both."""
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.dim(), b.dim()):
            return NotImplemented
        dims = range(a.dim() - dims, a.dim()), range(dims)
    elif isinstance(dims, Tensor):
        return NotImplemented
    of_a, of_b = ([wrapped(d, x.dim()) for d in part] for part, x in zip(dims, (a, b), strict=True))
    summed = [a.shape[d] for d in of_a]
    if summed != [b.shape[d] for d in of_b] or len({*of_a}) + len({*of_b}) < 2 * len(of_a):
        return NotImplemented
    left = [d for d in range(a.dim()) if d not in of_a]
    right = [d for d in range(b.dim()) if d not in of_b]
    first, second = a.permute(*left, *of_a), b.permute(*of_b, *right)
    shape, n = [*first.shape[: len(left)], *second.shape[len(of_b) :]], math.prod(summed)
    rows, columns = (math.prod(part) for part in (shape[: len(left)], shape[len(left) :]))
    return (first.reshape(rows, n) @ second.reshape(n, columns)).reshape(shape)


@rule("linalg_multi_dot", inside=True)
def multi_dot(level, func, tensors):
    """A chain of products, from its shorter end: a vector's, where there is one."""
    first, *middle, last = tensors if len(tensors) > 1 else [None, None]
    if (
        first is None
        or any(x.dim() != 2 for x in middle)
        or not {first.dim(), last.dim()} <= {1, 2}
    ):
        return NotImplemented
    backwards = last.dim() == 1 or (first.dim() == 2 and last.shape[-1] < first.shape[0])
    if backwards:
        return functools.reduce(lambda right, left: left @ right, reversed(tensors))
    return functools.reduce(lambda left, right: left @ right, tensors)


@rule("addmm addmv baddbmm addr addbmm", inside=True)
def added(level, func, input, first, second, *, beta=1, alpha=1):
    """beta * input + alpha * (the product)."""
    name = func.__name__
    if name == "addr":
        found = _C.outer(first, second)
    elif name == "addbmm":
        found = _C.bmm(first, second).sum(0)
    else:
        found = {"addmm": _C.mm, "addmv": _C.mv, "baddbmm": _C.bmm}[name](first, second)
    found = found if alpha == 1 else alpha * found
    if beta == 0:
        return found
    return (input if beta == 1 else beta * input) + found


@rule("linear")
def linear(level, func, input, weight, bias=None):
    """input @ weight.T + bias, with a batch in any of the three."""
    if not level.holds(weight) and not level.holds(bias) and input.dim():
        return level.batched(func(input._value, weight, bias))
    weight_t = level.batched(weight._value.mT) if level.holds(weight) else weight.mT
    if weight.dim() != 2 or not input.dim():
        return NotImplemented
    if level.holds(input) or level.holds(weight_t):
        if level.holds(weight_t) and level.holds(input) and input.dim() == 2 and level.holds(bias):
            return level.batched(
                _C.baddbmm(bias._value.unsqueeze(1), input._value, weight_t._value)
            )  # fmt: skip
        found = _product(level, input, weight_t)
    else:
        found = _C.matmul(input, weight_t).unsqueeze(0)
    if bias is None:
        return level.batched(found)
    return level.batched(found + (padded(bias._value, found.dim()) if level.holds(bias) else bias))


@rule("_linalg_cholesky _linalg_lu _linalg_svd _linalg_qr _linalg_eigh _linalg_inv")
def decomposed(level, func, name, a, *options):
    """Decompositions of matrices, as many as there are."""
    return level.wrap(func(name, a._value, *options))


@rule("_linalg_check _linalg_check_info")
def checked(level, func, name, a, *options):
    """Checks that know nothing of a batch."""
    return func(name, a._value, *options)


@rule("linalg_det linalg_slogdet det slogdet matrix_exp linalg_matrix_exp")
@rule("_linalg_pinv _linalg_ldl_factor")
def of_matrices(level, func, a, *options, **more):
    """What is computed of each matrix."""
    if a.dim() < 2 or level.found(options):
        return NotImplemented
    return level.wrap(func(a._value, *options, **more))


@rule("_linalg_permutation")
def permutation(level, func, pivots, n):
    """The matrix of a permutation."""
    return level.batched(func(pivots._value, n))


@rule("_linalg_solve _linalg_solve_triangular")
def solve(level, func, name, a, b, *options):
    """Systems of equations, of which all have the same number of dimensions."""
    if a.dim() < 2 or a.dim() != b.dim():
        return NotImplemented
    return level.wrap(func(name, level.spread(a), level.spread(b), *options))


@rule("cdist")
def cdist(level, func, x1, x2, *args, **kwargs):
    """Distances between rows."""
    if x1.dim() != x2.dim():
        return NotImplemented
    return level.batched(func(level.spread(x1), level.spread(x2), *args, **kwargs))


@rule("scaled_dot_product_attention F.scaled_dot_product_attention")
def attention(level, func, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False,
              **options):  # fmt: skip
    """Attention with the batch in front of all three."""
    ranks = {query.dim(), key.dim(), value.dim()}
    if dropout_p:
        check_draws(level)
    if dropout_p or len(ranks) > 1 or min(ranks) < 2:
        return NotImplemented
    if attn_mask is not None:
        attn_mask = level.aligned(attn_mask, query.dim())
    tensors = [level.spread(x) for x in (query, key, value)]
    return level.batched(func(*tensors, attn_mask, 0.0, is_causal, **options))
