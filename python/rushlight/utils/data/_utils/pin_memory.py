"""pin_memory: copy every tensor of a batch to page-locked memory."""

from collections.abc import Mapping

import rushlight

from .containers import is_container, map_like


def pin_memory(data, device=None):
    """`data` with its tensors pinned; a `pin_memory()` method of its own is called.

    Example:
        >>> from rushlight.utils.data._utils.pin_memory import pin_memory
        >>> pin_memory(["text", 3])
        ['text', 3]
    """
    if isinstance(data, rushlight.Tensor):
        return data.pin_memory()
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, Mapping):
        return map_like(data, {key: pin_memory(value, device) for key, value in data.items()})
    if is_container(data):
        return map_like(data, [pin_memory(value, device) for value in data], keep_tuples=True)
    return data
