"""torch.sym_*: arithmetic on sizes that torch.compile may not know yet. Here they are numbers."""

from __future__ import annotations

import math

from rushlight._table import op


@op("torch")
def sym_int(a):
    """a towards 0, as an int.

    Args:
        a: a number.

    >>> torch.sym_int(-2.5)
    -2
    """
    return math.trunc(a)


@op("torch")
def sym_float(a):
    """a as a float.

    Args:
        a: a number.

    >>> torch.sym_float(3)
    3.0
    """
    return float(a)


@op("torch")
def sym_not(a):
    """not a.

    Args:
        a: a bool.

    >>> torch.sym_not(True)
    False
    """
    return not a


@op("torch")
def sym_sqrt(a):
    """The square root of a.

    Args:
        a: a number.

    >>> torch.sym_sqrt(4)
    2.0
    """
    return math.sqrt(a)


def _choose(choose, a, b):
    found = choose(a, b)
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


@op("torch")
def sym_max(a, b):
    """The larger of two numbers, a float where one of them is.

    Args:
        a, b: numbers.

    >>> torch.sym_max(3, 2.0)
    3.0
    """
    return _choose(max, a, b)


@op("torch")
def sym_min(a, b):
    """The smaller of two numbers, a float where one of them is.

    Args:
        a, b: numbers.

    >>> torch.sym_min(3, 2)
    2
    """
    return _choose(min, a, b)


@op("torch")
def sym_ite(b, t, f):
    """t if b else f.

    Args:
        b: a bool.
        t, f: numbers.

    >>> torch.sym_ite(True, 1, 2)
    1
    """
    return t if b else f
