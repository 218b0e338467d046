"""Module paths in files: PyTorch's, which are mapped to ours and back.

Note: the layouts agree but for the few exceptions below, so a class that is moved here to another
module than PyTorch's needs a line in this file.
"""

import sys

from rushlight import _table

_RUSHLIGHT_TO_TORCH = (("rushlight.vision", "torchvision"), ("rushlight", "torch"))
_TORCH_TO_RUSHLIGHT = (
    ("torch._C._nn", "rushlight.nn.functional"),
    ("torch.tensor", "rushlight._tensor"),
    ("torchvision", "rushlight.vision"),
    ("torch", "rushlight"),
)


def _renamed(module, table):
    for old, new in table:
        if module == old:
            return new
        if module.startswith(old + "."):
            return new + module[len(old) :]
    return None


def torch_module(module):
    """The module path that files use for one of our modules; None for a module not ours."""
    if module == "rushlight._C":
        return "torch"
    return _renamed(module, _RUSHLIGHT_TO_TORCH)


def torch_path(thing):
    """The dotted path under which files name a class or function."""
    module = getattr(thing, "__module__", None) or "builtins"
    name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None)
    if name is None:
        raise TypeError(f"{thing!r} is neither a class nor a function: it has no name in files")
    return f"{torch_module(module) or module}.{name}"


def find(module, name):
    """The class or function that a file means by PyTorch's ``module`` and ``name``.

    Returns None when ``module`` is not PyTorch's. Only modules of this package are imported.
    """
    ours = _renamed(module, _TORCH_TO_RUSHLIGHT)
    if ours is None:
        return None
    from importlib import import_module

    try:
        if ours not in sys.modules:
            import_module(ours)
        found = sys.modules[ours]
        for part in name.split("."):
            found = getattr(found, part)
        return found
    except (ImportError, AttributeError):
        raise AttributeError(
            _table.absent(f"{module}.{name}") + "\n"
            "the file needs it; save a state_dict instead of the whole object, with the program "
            "that wrote the file"
        ) from None
