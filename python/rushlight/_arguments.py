"""Checks of arguments that operations written in Python share, with torch's error texts."""


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
