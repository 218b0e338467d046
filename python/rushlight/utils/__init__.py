"""torch.utils: its parts are loaded when first asked for."""

_PARTS = ("benchmark", "checkpoint", "data", "dlpack", "hooks", "model_zoo", "tensorboard")


def __getattr__(name):
    if name in _PARTS:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    raise AttributeError(f"torch.utils.{name} is not in rushlight 0.1", name=name)
