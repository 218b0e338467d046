# Marks for NVIDIA's profilers. No profiler looks at virtual GPUs, so they do nothing; the depth is
# counted, as programs may look at what push and pop return.
from contextlib import contextmanager

_depth = 0


def range_push(msg) -> int:
    """Opens a nested range; returns its depth, from 0."""
    global _depth
    _depth += 1
    return _depth - 1


def range_pop() -> int:
    """Closes the innermost range; returns its depth, -1 if there is none."""
    global _depth
    _depth = max(_depth - 1, -1)
    return _depth


def mark(msg) -> None:
    """Marks a moment."""


@contextmanager
def range(msg, *args, **kwargs):
    """Context for a range, opened and closed with it."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
