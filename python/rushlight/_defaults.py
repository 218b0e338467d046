"""Settings of the process: default device and dtype, exactness of float32 products, threads."""

from __future__ import annotations

import importlib
import os

from rushlight import _C
from rushlight._table import op

__all__ = [
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "set_default_device",
    "set_default_dtype",
    "set_float32_matmul_precision",
    "set_num_interop_threads",
]

_interop_threads = os.cpu_count() or 1


@op("torch")
def set_default_device(device):
    """Sets the device of new tensors for which none is given; None is the CPU.

    Args:
        device: a device, its name or index.

    >>> torch.set_default_device("cpu")
    """
    _C._set_default_device("cpu" if device is None else device)


@op("torch")
def set_default_dtype(d):
    """Sets the dtype of new floating-point tensors.

    Args:
        d: a floating-point dtype.

    >>> torch.set_default_dtype(torch.float32)
    """
    _C._set_default_dtype(d)


_reduced_precision = "high"  # the last setting below "highest"


@op("torch")
def set_float32_matmul_precision(precision):
    """Sets how exact float32 matrix products are.

    Args:
        precision: "highest": float32 on every device; "high" and "medium": a real GPU may round the
            operands to TF32, as with `torch.backends.cuda.matmul.allow_tf32`.

    >>> torch.set_float32_matmul_precision("highest")
    """
    global _reduced_precision
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"Invalid float32_matmul_precision: {precision}")
    if precision != "highest":
        _reduced_precision = precision
    _C._set_switch("tf32_products", precision != "highest")


@op("torch")
def get_float32_matmul_precision():
    """How exact float32 products are.

    >>> torch.get_float32_matmul_precision()
    'highest'
    """
    return _reduced_precision if _C._get_switch("tf32_products") else "highest"


@op("torch")
def get_num_interop_threads():
    """The number that set_num_interop_threads() was given; before that, how many cores there are.

    >>> torch.get_num_interop_threads() >= 1
    True
    """
    return _interop_threads


@op("torch")
def set_num_interop_threads(num):
    """Sets what get_num_interop_threads() returns; operations run one after another here, whatever
    it is.

    Args:
        num: the number of threads.

    Raises:
        RuntimeError: for anything but a positive int.

    >>> torch.set_num_interop_threads(1)
    """
    global _interop_threads
    if not isinstance(num, int) or isinstance(num, bool):
        raise RuntimeError(f"set_num_interop_threads expects an int, but got {type(num).__name__}")
    if num <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    _interop_threads = num


@op("torch")
def get_device_module(device=None):
    """The module of a kind of device: torch.cpu or torch.cuda.

    Args:
        device: a device or its name; None for the default device's kind.

    >>> torch.get_device_module("cuda") is torch.cuda
    True
    """
    if device is None:
        accelerator = importlib.import_module("rushlight.accelerator")
        device = accelerator.current_accelerator(check_available=True) or "cpu"
    if not isinstance(device, str | _C.device):
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    kind = _C.device(device).type
    if kind == "meta":
        raise RuntimeError(
            "Device 'meta' does not have a corresponding module registered as 'torch.meta'."
        )
    return importlib.import_module(f"rushlight.{kind}")
