"""What programs import as torchvision: datasets, transforms, models, ops, utils and io.

Submodules load on first use, and Pillow only when an image is made or read.
"""

from rushlight._version import __version__ as _ours

_submodules = ("datasets", "io", "models", "ops", "transforms", "tv_tensors", "utils")
__version__ = f"0.28.0+rushlight{_ours}"


def __getattr__(name):
    if name in _submodules:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(
        f"module 'torchvision' has no attribute {name!r}\n"
        f"torchvision.{name} is not in rushlight {_ours}; there are: {', '.join(_submodules)}."
    )


def __dir__():
    return sorted([*globals(), *_submodules])


def get_image_backend():
    """The package that reads images: always "PIL"."""
    return "PIL"


def set_image_backend(backend):
    """Accepts "PIL", the only one there is."""
    if backend != "PIL":
        raise ValueError(f"Invalid backend '{backend}'. Options are 'PIL'")


def _is_tracing():
    """False: nothing is traced for TorchScript."""
    return False
