# Versions: ours, and of the CUDA that programs may look up. Under the name torch, __version__ reads
# as torch's (see _runner/alias.py).

from ._version import __version__

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "xpu"]
debug = False
git_version = "unknown"
hip = None
xpu = None
cuda: "str | None"


def __getattr__(name):
    if name == "cuda":  # changes when virtual GPUs come and go
        from . import _C

        return "13.0" if _C._cuda.has_provider() else None
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
