"""Pointwise operations under vmap(), what keeps a shape, and writing in place: the batch's
dimension is aligned, and they broadcast.
"""

from rushlight import _C, Tensor
from rushlight._func.dispatch import IN_PLACE, RULES, looped, rule

_MORE = """
    add sub rsub mul div true_divide pow rpow float_power clamp round nan_to_num positive logit
    polygamma nextafter gelu threshold relu6 where masked_fill frexp isreal lerp silu mish hardswish
    softplus leaky_relu elu hardtanh celu hardshrink softshrink special_multigammaln mvlgamma ldexp
    isclose real imag conj resolve_conj resolve_neg conj_physical to cuda cpu float double half
    bfloat16 int long short char byte bool type type_as clone contiguous detach detach_ fill zero_
    fill_ copy_ addcmul addcdiv radd rmul rtruediv truediv rfloordiv floordiv mod rmod and rand_ or
    xor ror rxor lshift rshift rlshift rrshift invert neg abs eq ne lt le gt ge pos
    zeros_like ones_like full_like empty_like alias data retain_grad polar complex requires_grad_
    pin_memory rtruediv
"""


def _promoted(level, args):
    # A tensor without dimensions counts less in type promotion; with the batch's it has one.
    tensors = [x for x in args if isinstance(x, Tensor)]
    wide = [x for x in tensors if x.dim()]
    low = [x for x in tensors if not x.dim()]
    if not low or len({x.dtype for x in tensors}) == 1:
        return args
    if not wide:
        return [x.unsqueeze(0) if _is_plain(level, x) else x for x in args]
    like = [_C.empty((1,), dtype=x.dtype) for x in wide]
    made = list(args)
    for i, x in enumerate(args):
        if level.holds(x) and not x.dim():
            dtype = _C.result_type(_C.empty((), dtype=x.dtype), like[0])
            for other in like[1:]:
                dtype = _C.result_type(_C.empty((1,), dtype=dtype), other)
            made[i] = level.batched(x._value.to(dtype))
    return made


def _is_plain(level, x):
    return isinstance(x, Tensor) and not level.holds(x)


def aligned(level, args):
    """The arguments with the batch in front: they broadcast as the elements would."""
    tensors = [x for x in args if isinstance(x, Tensor)]
    if len(tensors) > 1:
        args = _promoted(level, args)
        rank = max(x.dim() for x in tensors)
        return [level.aligned(x, rank) for x in args]
    return [level.value(x) for x in args]


def pointwise(level, func, *args, **kwargs):
    """Broadcast with the batch in front."""
    n = len(args)
    if kwargs:
        kwargs.pop("memory_format", None)  # of images without the batch
        values = aligned(level, [*args, *kwargs.values()])
        kwargs = dict(zip(kwargs, values[n:], strict=True))
        args = values[:n]
    else:
        args = aligned(level, args)
    return level.wrap(func(*args, **kwargs))


def in_place(level, func, *args, **kwargs):
    """The same, written to the first argument."""
    target = args[0] if args else kwargs["input"]
    if not level.holds(target):
        raise RuntimeError(IN_PLACE)
    others = [x for x in (*args[1:], *kwargs.values()) if isinstance(x, Tensor)]
    if any(x.dim() > target.dim() for x in others):
        return looped(level, func, args, kwargs, "in_place_")  # which raises its own error
    pointwise(level, func, *args, **kwargs)
    return target


def _fill():
    names = {op["name"] for op in _C._pointwise_ops()} | set(_MORE.split())
    for name in names:
        base = name.rstrip("_")
        RULES.setdefault(name, in_place if name.endswith("_") else pointwise)
        if not name.endswith("_"):
            RULES.setdefault(f"{base}_", in_place)
    for row in _C._rows():
        if row["name"] in names:
            for alias in row["aliases"]:
                RULES.setdefault(alias, pointwise)
                RULES.setdefault(f"{alias}_", in_place)
    for name in "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor".split():
        RULES[name] = in_place
    for name in "real imag data".split():
        RULES[f"get.{name}"] = lambda level, func, x: level.wrap(func.__self__.__get__(x._value))


@rule("where")
def where(level, func, condition, input=None, other=None):
    """Pointwise; with the condition alone the result's shape depends on it."""
    if input is None:
        return NotImplemented
    if level.holds(input) or level.holds(other):
        input, other = _promoted(level, [input, other])
    rank = max(x.dim() for x in (condition, input, other) if isinstance(x, Tensor))
    values = [level.aligned(x, rank) for x in (condition, input, other)]
    return level.batched(func(*values))


@rule("masked_fill masked_fill_")
def masked_fill(level, func, input, mask, value):
    """Pointwise, where the value may be an element's own."""
    if level.holds(value):
        chosen = level.batched(value._value.to(input.dtype))
        found = pointwise(level, _C.where, mask, chosen, input)
        return (
            in_place(level, _C.Tensor.copy_, input, found) if func.__name__.endswith("_") else found
        )
    rank = max(input.dim(), mask.dim())
    if func.__name__.endswith("_") and (not level.holds(input) or rank > input.dim()):
        raise RuntimeError(IN_PLACE)
    found = func(level.aligned(input, rank), level.aligned(mask, rank), value)
    return input if func.__name__.endswith("_") else level.batched(found)


@rule("prelu", inside=True)
def prelu(level, func, input, weight):
    """A slope for each channel, dimension 1 of an element."""
    if weight.numel() > 1:
        weight = weight.reshape(-1, *[1] * (input.dim() - 2))
    return _C.where(input > 0, input, weight * input)


@rule("get.grad")
def grad(level, func, _x):
    """Inside vmap() nothing has a .grad."""
    return


_fill()
