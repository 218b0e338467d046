"""What torch calls experimental in fx: `optimization` is here, `proxy_tensor` by name."""


def __getattr__(name):
    if name in ("optimization", "proxy_tensor"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
