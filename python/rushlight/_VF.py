"""torch._VF: torch's functions, under the name that layers and libraries call them by."""

import rushlight


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    return getattr(rushlight, name)
