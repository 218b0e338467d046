"""torch's older names of what autocast has set, one for the GPUs and one for the CPU, with its
warnings.
"""

from __future__ import annotations

import warnings

from rushlight import _C
from rushlight._table import op


def _warn(old, new):
    warnings.warn(
        f"torch.{old} is deprecated. Please use torch.{new} instead.",
        DeprecationWarning,
        stacklevel=3,
    )


def warn_of_module(kind, name):
    """Of torch.cuda.amp and torch.cpu.amp, where a class is made."""
    warnings.warn(
        f"`torch.{kind}.amp.{name}(args...)` is deprecated. Please use "
        f"`torch.amp.{name}('{kind}', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )


@op("torch")
def get_autocast_gpu_dtype():
    """get_autocast_dtype("cuda").

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.get_autocast_gpu_dtype()
    torch.float16
    """
    _warn("get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')")
    return _C.get_autocast_dtype("cuda")


@op("torch")
def get_autocast_cpu_dtype():
    """get_autocast_dtype("cpu").

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.get_autocast_cpu_dtype()
    torch.bfloat16
    """
    _warn("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return _C.get_autocast_dtype("cpu")


@op("torch")
def set_autocast_gpu_dtype(dtype):
    """set_autocast_dtype("cuda", dtype).

    Args:
        dtype: float16 or bfloat16.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.set_autocast_gpu_dtype(torch.float16)
    """
    _warn("set_autocast_gpu_dtype(dtype)", "set_autocast_dtype('cuda', dtype)")
    _C.set_autocast_dtype("cuda", dtype)


@op("torch")
def set_autocast_cpu_dtype(dtype):
    """set_autocast_dtype("cpu", dtype).

    Args:
        dtype: float16 or bfloat16.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.set_autocast_cpu_dtype(torch.bfloat16)
    """
    _warn("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    _C.set_autocast_dtype("cpu", dtype)


@op("torch")
def is_autocast_cpu_enabled():
    """is_autocast_enabled("cpu").

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.is_autocast_cpu_enabled()
    False
    """
    _warn("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return _C.is_autocast_enabled("cpu")
