"""The named results of ops with two tensors: torch.return_types.max and its like.

>>> torch.return_types.sort is type(torch.tensor([2, 1]).sort())
True
"""

from rushlight import _C

globals().update(_C._return_types)
__all__ = sorted(_C._return_types)


def __getattr__(name):
    """Of operations written in Python, whose modules are imported when they are asked for."""
    if not name.startswith("_"):
        import rushlight

        operation = name.removesuffix("_out")
        of_linalg = operation.startswith("linalg_")
        home = rushlight.linalg if of_linalg else rushlight
        getattr(home, operation.removeprefix("linalg_"), None)
        if name in _C._return_types:
            return _C._return_types[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
