# Marks for NVIDIA's profilers. They have no effect, but the depth of ranges is counted, as programs
# may use what push and pop return.
from contextlib import contextmanager

_depth = 0


def range_push(msg) -> int:
    """Opens a nested range; returns its depth, from 0.

    Args:
        msg: the name.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.nvtx.range_push("forward")
    ...     torch.cuda.nvtx.range_pop()
    0
    0
    """
    global _depth
    _depth += 1
    return _depth - 1


def range_pop() -> int:
    """Closes the innermost range; returns its depth, -1 if there is none.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.nvtx.range_pop()
    -1
    """
    global _depth
    if _depth == 0:
        return -1
    _depth -= 1
    return _depth


def mark(msg) -> None:
    """Marks a moment in the profile.

    Args:
        msg: the name.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.nvtx.mark("epoch")
    """


@contextmanager
def range(msg, *args, **kwargs):
    """Context of a range, opened and closed with it.

    Args:
        msg: the name, formatted with the other arguments.
        *args, **kwargs: arguments of msg.format().

    >>> with torch.cuda.virtual(1), torch.cuda.nvtx.range("step {}", 1):
    ...     _ = torch.ones(2)
    """
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
