"""The names of functions as __torch_function__ gets them, for tables of rules by name."""

import functools

from rushlight import _C


@functools.cache
def _aliases():
    return {alias: row["name"] for row in _C._rows() for alias in row["aliases"]}


def without_alias(name):
    """The name of the row that has it among its own."""
    return _aliases().get(name, name)


def plain_name(func, slots, rules):
    """`get.device` of a property's getter; of a slot of Python's the name that `slots` gives it, or
    its own, without underscores if `rules` has none of it; of all else its name.
    """
    name = getattr(func, "__name__", "?")
    if name in ("__get__", "__set__", "__delete__"):
        return f"{name.strip('_')}.{func.__self__.__name__}"
    if name.startswith("__"):
        return slots.get(name) or (name if name in rules else name.strip("_"))
    return name


def is_in_python(func):
    """Whether it is an operation that is written in Python."""
    return type(func).__name__ in ("operation", "operation_method")
