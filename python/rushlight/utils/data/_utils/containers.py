"""map_like: rebuild a mapping, namedtuple or sequence with each element replaced.

The rules are torch's: a mutable container is copied and filled, so that attributes of a subclass
survive; what cannot be built again becomes a dict or list.
"""

import copy
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence


def is_container(data):
    """Whether map_like can take `data` apart."""
    return isinstance(data, Mapping | Sequence) and not isinstance(data, str | bytes)


def map_like(data, keyed_values, keep_tuples=False):
    """A container like `data` with new values.

    Args:
        data: a mapping or sequence, the model.
        keyed_values: dict (mapping) or list (sequence) of the new values.
        keep_tuples: whether a plain tuple stays one; torch's collate makes it a list.
    """
    if isinstance(data, tuple):
        if hasattr(data, "_fields"):
            return type(data)(*keyed_values)
        return type(data)(keyed_values) if keep_tuples else keyed_values
    kind = type(data)
    if kind is list or kind is dict:
        return keyed_values
    try:
        if isinstance(data, MutableMapping):
            clone = copy.copy(data)
            clone.update(keyed_values)
            return clone
        if isinstance(data, MutableSequence):
            clone = copy.copy(data)
            for i, value in enumerate(keyed_values):
                clone[i] = value
            return clone
        return kind(keyed_values)
    except TypeError:
        return keyed_values
