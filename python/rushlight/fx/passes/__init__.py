"""Passes over graphs."""


def __getattr__(name):
    if name in ("shape_prop", "split_module", "tools_common", "utils"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
