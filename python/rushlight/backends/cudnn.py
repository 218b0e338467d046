# Switches of cuDNN. Real GPUs follow them in each convolution; on virtual ones cuDNN answers as on
# a machine that has it, and the switches change nothing.
import sys
from contextlib import contextmanager
from types import ModuleType

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True

_SWITCHES = {
    "enabled": "cudnn_enabled",
    "benchmark": "cudnn_benchmark",
    "deterministic": "cudnn_deterministic",
    "allow_tf32": "tf32_convolutions",
}


class _Module(ModuleType):
    """This module, whose switches reach the kernels when they are set."""

    def __setattr__(self, name, value):
        if name in _SWITCHES:
            from .. import _C

            _C._set_switch(_SWITCHES[name], bool(value))
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Module


def _library():
    """(version or 0, path or why it is absent) of the library; None on virtual GPUs."""
    from .. import _C

    for name, version, details in _C._cuda_libraries():
        if name == "cuDNN":
            return version, details
    return None


def is_available() -> bool:
    """Whether cuDNN computes convolutions on GPUs; without it our own kernels do. Virtual GPUs
    report it, as programs expect.

    >>> with torch.cuda.virtual(1):
    ...     torch.backends.cudnn.is_available()
    True
    """
    from .. import cuda

    found = _library()
    return cuda.is_available() and (found is None or found[0] > 0)


def version() -> "int | None":
    """The version of cuDNN, such as 91002; None without a GPU or without cuDNN.

    >>> with torch.cuda.virtual(1):
    ...     torch.backends.cudnn.version() > 90000
    True
    """
    if not is_available():
        return None
    found = _library()
    return found[0] if found else 91002


def is_acceptable(tensor) -> bool:
    """Whether cuDNN could take a tensor: a floating-point one on a GPU.

    Args:
        tensor: the tensor.

    >>> torch.backends.cudnn.is_acceptable(torch.ones(1))
    False
    """
    return bool(enabled) and is_available() and tensor.is_cuda and tensor.is_floating_point()


def set_flags(
    _enabled=None,
    _benchmark=None,
    _benchmark_limit=None,
    _deterministic=None,
    _allow_tf32=None,
):
    """Sets those switches that are not None; returns the values from before.

    >>> before = torch.backends.cudnn.set_flags(_benchmark=True)
    >>> _ = torch.backends.cudnn.set_flags(*before)
    """
    names = ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32")
    new = (_enabled, _benchmark, _benchmark_limit, _deterministic, _allow_tf32)
    before = tuple(globals()[name] for name in names)
    for name, value in zip(names, new, strict=True):
        if value is not None:
            setattr(sys.modules[__name__], name, value)
    return before


@contextmanager
def flags(enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True):
    """Context with these settings.

    Args:
        enabled: whether cuDNN is used.
        benchmark: try several algorithms and use the fastest.
        benchmark_limit: how many at most.
        deterministic: only algorithms that repeat their results.
        allow_tf32: whether operands may be rounded to TF32.

    >>> with torch.backends.cudnn.flags(enabled=True, deterministic=True):
    ...     torch.backends.cudnn.deterministic
    True
    """
    before = set_flags(enabled, benchmark, benchmark_limit, deterministic, allow_tf32)
    try:
        yield
    finally:
        set_flags(*before)
