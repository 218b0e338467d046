"""What operations written in Python share: out=, named results, the words of wrong arguments."""

from rushlight import _C


def deliver(name, result, out):
    """The result, or `out` (a tensor, or as many as there are results) with the result written."""
    if out is None:
        return result
    if isinstance(result, tuple):
        if not isinstance(out, (tuple, list)) or len(out) != len(result):
            raise TypeError(
                f"{name}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}"
            )
        written = [_C._deliver(name, o, r) for o, r in zip(out, result, strict=True)]
        return type(result)(written) if hasattr(result, "_fields") else tuple(written)
    if not isinstance(out, _C.Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    return _C._deliver(name, out, result)


class _Named(tuple):
    """Tensors with names, printed as torch prints them."""

    __slots__ = ()
    _fields: tuple = ()

    def __repr__(self):
        fields = ",\n".join(f"{n}={v!r}" for n, v in zip(self._fields, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n{fields})"


def named(name, *fields):
    """A type of named results: a tuple whose members have names."""
    from operator import itemgetter

    members = {field: property(itemgetter(i)) for i, field in enumerate(fields)}
    members |= {"_fields": fields, "__slots__": (), "__module__": "rushlight.return_types"}
    return type(name, (_Named,), members)


def check_tensors(name, **operands):
    """TypeError where an operand is no tensor; they are in the order of the signature."""
    for position, (argument, value) in enumerate(operands.items(), 1):
        if not isinstance(value, _C.Tensor):
            raise TypeError(
                f"{name}(): argument '{argument}' (position {position}) must be Tensor, "
                f"not {type(value).__name__}"
            )


def ints(name, argument, value, count, spread=True):
    """`count` ints from one, or from a list of them; with `spread` a list of one stands for all."""
    import operator

    many = isinstance(value, list | tuple)
    try:
        given = tuple(map(operator.index, value if many else (value,)))
    except TypeError:
        raise TypeError(
            f"{name}(): argument '{argument}' must be tuple of ints, not "
            + ("one that holds other things" if many else type(value).__name__)
        ) from None
    if len(given) == 1 and (spread or not many):
        return given * count
    if len(given) != count:
        raise RuntimeError(
            f"{name}(): expected {argument} to be one int or {count} ints, but got {given}"
        )
    return given


def wrapped(dim, rank):
    """A dimension counted from the front; a 0-d tensor counts as having one."""
    import operator

    dim = operator.index(dim)
    size = max(rank, 1)
    if not -size <= dim < size:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-size}, {size - 1}], "
            f"but got {dim})"
        )
    return dim % size


def dtype_name(dtype):
    """How errors spell a dtype: float32 is Float."""
    from rushlight import _python_ops

    return _python_ops._NAMES[dtype]
