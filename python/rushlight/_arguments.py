"""Checks of arguments that operations written in Python share, with torch's error texts."""

from rushlight import _C


def check_tensors(name, **operands):
    """TypeError where an operand is no tensor; they are in the order of the signature."""
    for position, (argument, value) in enumerate(operands.items(), 1):
        if not isinstance(value, _C.Tensor):
            raise TypeError(
                f"{name}(): argument '{argument}' (position {position}) must be Tensor, "
                f"not {type(value).__name__}"
            )


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
