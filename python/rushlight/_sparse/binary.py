"""Sums, differences, products and quotients with sparse operands."""

from rushlight import _C, no_grad
from rushlight._C import Tensor
from rushlight._sparse.conversion import at_entries, dense_of
from rushlight._sparse.dispatch import RULES, refuse, rule
from rushlight._sparse.entries import ascends, coalesced, indices_of, places, summed
from rushlight._sparse.tensor import Compressed, Coordinates, coordinates, is_sparse, with_values

_WITH_DENSE = "add(sparse, dense) is not supported. Use add(dense, sparse) instead."


def _is_scalar(x):
    return not isinstance(x, Tensor) or (not is_sparse(x) and x.dim() == 0)


def _check_alike(name, a, b):
    if a._size != b._size:
        words = (
            "add: expected sizes of 'self' and 'other' to match, but "
            f"{list(a._size)} != {list(b._size)}"
            if name == "add"
            else "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal "
            "dimensionality, number of sparse dimensions, and shape of sparse dimensions"
        )
        raise RuntimeError(f"{words}\nsparse operands are not broadcast")
    if a._v.device != b._v.device:
        raise RuntimeError(
            f"{name}: expected 'self' and 'other' to be on one device, but got {a._v.device} and "
            f"{b._v.device}"
        )
    if RULES["dense_dim"](a) != RULES["dense_dim"](b):
        raise RuntimeError(
            f"{name}: expected 'self' and 'other' to have same density, but 'self' has "
            f"{RULES['sparse_dim'](a)} sparse dimensions while 'other' has "
            f"{RULES['sparse_dim'](b)} sparse dimensions"
        )


def _promoted(a, b):
    dtype = _C.promote_types(a._v.dtype, b._v.dtype)
    return a._v.to(dtype), b._v.to(dtype)


def _back(result, like):
    """A result computed with coordinates, in the layout of an operand."""
    if isinstance(like, Compressed):
        return RULES[f"to_{like.layout_name}"](result)
    return result


def total(a, b, alpha=1, node="AddBackward0"):
    """a + alpha * b, both in coordinate form."""
    _check_alike("add", a, b)
    left, right = _promoted(a, b)
    if alpha != 1:
        right = right * alpha
    both = a._coalesced and b._coalesced
    values = _C.cat([left, right])
    whole = coordinates(_C.cat([a._i, b._i], 1), values, a._size)
    if not a._v.shape[0] or not b._v.shape[0]:
        whole._coalesced = both
        whole._node = node
        return whole
    first, second = places(a), places(b)
    if first.shape == second.shape and bool((first == second).all()):
        return coordinates(a._i, left + right, a._size, both, node)
    if both or (ascends(first) and ascends(second)):
        with no_grad():
            kept, groups = _C.cat([first, second]).unique(return_inverse=True)
            indices = indices_of(kept, a._size[: a._i.shape[0]])
        return coordinates(indices, summed(values, groups, kept.shape[0]), a._size, both, node)
    whole._node = node
    return whole


@rule("add")
def add(input, other, *, alpha=1):
    """A sum of two sparse tensors, or of a dense one and a sparse one."""
    node = "AddBackward0"
    if not is_sparse(input) and isinstance(input, Tensor):
        if input.dim() == 0 and other.dim():
            raise RuntimeError(_WITH_DENSE)
        return input + (alpha * dense_of(other) if alpha != 1 else dense_of(other))
    if not is_sparse(other) or not is_sparse(input):
        if isinstance(input, Compressed) or isinstance(other, Compressed):
            refuse("add", (input, other), {})
        raise RuntimeError(_WITH_DENSE)
    if isinstance(input, Coordinates) and isinstance(other, Coordinates):
        return total(input, other, alpha, node)
    if type(input) is not type(other):
        refuse("add", (input, other), {})
    to_coo = RULES["to_sparse_coo"]
    return _back(total(to_coo(input), to_coo(other), alpha, node), input)


@rule("radd")
def radd(input, other):
    """other + input."""
    return add(other, input)


@rule("sub subtract")
def sub(input, other, *, alpha=1):
    """input - alpha * other."""
    if any(getattr(x, "dtype", None) is _C.bool for x in (input, other)):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead."
        )
    found = add(input, other, alpha=-alpha)
    if is_sparse(found):
        found._node = "SubBackward0"
    return found


@rule("rsub")
def rsub(input, other, alpha=1):
    """other - alpha * input."""
    return sub(other, input, alpha=alpha)


def _scaled(x, factor, function, node):
    values = function(x._v, factor)
    return with_values(x, values, node)


@rule("mul multiply rmul")
def mul(input, other):
    """A product: sparse wherever an operand is."""
    node = "MulBackward0"
    if not is_sparse(input):
        input, other = other, input
    if _is_scalar(other):
        return _scaled(input, other, _C.mul, node)
    if is_sparse(other):
        return _product_of_two(input, other, node)
    if isinstance(input, Compressed):
        return _back(mul(RULES["to_sparse_coo"](input), other), input)
    if other.device != input._v.device:
        refuse_devices(input, other)
    if tuple(other.shape) != tuple(input._size):
        if other.dim() > len(input._size):
            raise RuntimeError(
                "mul(sparse, dense): the dense operand has more dimensions: "
                f"{list(input._size)} and {list(other.shape)}"
            )
        other = other.expand(input._size)  # whose error says what does not fit
    return with_values(input, input._v * at_entries(other, input), node)


def refuse_devices(x, other):
    """Raises torch's error for operands on two devices."""
    raise RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"{x._v.device} and {other.device}!\nmove one of them: x.to(y.device)"
    )


def _product_of_two(a, b, node):
    if isinstance(a, Compressed) or isinstance(b, Compressed):
        if type(a) is not type(b):
            refuse("mul", (a, b), {})
        to_coo = RULES["to_sparse_coo"]
        return _back(_product_of_two(to_coo(a), to_coo(b), node), a)
    _check_alike("mul", a, b)
    left, right = _promoted(a, b)
    a, b = with_values(a, left), with_values(b, right)
    if not a._coalesced and b._coalesced:
        a, b = b, a
    if a._coalesced and b._coalesced:
        first, second = places(a), places(b)
        both = _C.isin(first, second)
        a = coordinates(a._i[:, both], a._v[both], a._size, True)
        return with_values(a, a._v * at_entries(b, a), node)
    return with_values(b, b._v * at_entries(a, b), node)


@rule("div true_divide truediv divide")
def div(input, other, *, rounding_mode=None):
    """Divided by a number."""
    if not _is_scalar(other) or not is_sparse(input):
        if is_sparse(other):
            shape = list(other._size)
        else:
            shape = list(getattr(other, "shape", ()))
        if not isinstance(input, Tensor):
            refuse("reciprocal", (other,), {})
        raise RuntimeError(
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{shape} for divisor)"
        )
    x = input if rounding_mode is None or isinstance(input, Compressed) else coalesced(input)
    values = _C.div(x._v, other, rounding_mode=rounding_mode)
    return with_values(x, values, "DivBackward0" if rounding_mode is None else "DivBackward1")


@rule("rtruediv rdiv")
def rtruediv(input, other):
    """other / input, which is not there."""
    refuse("reciprocal", (input,), {})


@rule("floor_divide floordiv")
def floor_divide(input, other):
    """Divided and rounded down."""
    if not _is_scalar(other) or not is_sparse(input):
        raise RuntimeError(
            "Sparse floor division requires a scalar or zero-dim dense tensor divisor"
        )
    x = input if isinstance(input, Compressed) else coalesced(input)
    return with_values(x, _C.floor_divide(x._v, other))
