# Switches of cuDNN. On virtual GPUs it answers as on a machine that has it; the switches are kept,
# and change nothing there.
from contextlib import contextmanager

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether convolutions on GPUs work: True as soon as there is a GPU."""
    from .. import cuda

    return cuda.is_available()


def version() -> "int | None":
    """The version that programs see, such as 91002; None without a GPU."""
    return 91002 if is_available() else None


def is_acceptable(tensor) -> bool:
    """Whether a tensor could go to cuDNN: a floating-point tensor on a GPU."""
    return bool(enabled) and is_available() and tensor.is_cuda and tensor.is_floating_point()


def set_flags(
    _enabled=None,
    _benchmark=None,
    _benchmark_limit=None,
    _deterministic=None,
    _allow_tf32=None,
):
    """Sets those switches that are not None; returns the values from before."""
    names = ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32")
    new = (_enabled, _benchmark, _benchmark_limit, _deterministic, _allow_tf32)
    before = tuple(globals()[name] for name in names)
    for name, value in zip(names, new, strict=True):
        if value is not None:
            globals()[name] = value
    return before


@contextmanager
def flags(enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True):
    """Context with these switches."""
    before = set_flags(enabled, benchmark, benchmark_limit, deterministic, allow_tf32)
    try:
        yield
    finally:
        set_flags(*before)
