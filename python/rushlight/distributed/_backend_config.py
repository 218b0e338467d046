"""Which backend serves which kind of device, and which there are in this process."""

from __future__ import annotations

from rushlight import _C
from rushlight.distributed import _gloo, _job, _mpi, _nccl
from rushlight.distributed._backend import Backend

_ABSENT = {"ucc": "UCC", "xccl": "XCCL"}
_HERE = "rushlight has the backends 'gloo', 'nccl', 'mpi', and 'cpu:gloo,cuda:nccl' for both"


def _checked(name):
    if name == "mpi":
        _mpi.check()
    if name in ("gloo", "nccl", "mpi"):
        return name
    if name in _ABSENT:
        raise RuntimeError(f"Distributed package doesn't have {_ABSENT[name]} built in\n{_HERE}")
    raise ValueError(f"Invalid backend: {name!r}\n{_HERE}")


def read_backend(backend):
    """(its name, {"cpu" or "cuda": "gloo" or "nccl"}). None means all that this process has."""
    name = "undefined" if backend in (None, "") else str(backend).lower()
    if name == "undefined":
        found = {"cpu": "gloo", "cuda": "nccl"} if _C._cuda.device_count() else {"cpu": "gloo"}
    elif ":" in name:
        found = {}
        for pair in name.split(","):
            kind, _, one = pair.partition(":")
            if kind not in Backend.default_device_backend_map or ":" in one or not one:
                raise ValueError(
                    f"Invalid device:backend pairing: {pair}. The custom backend string argument "
                    f"is invalid: {backend}.\n{_HERE}"
                )
            if kind in found:
                raise ValueError(f"Duplicate device type {kind} in backend string: {backend}")
            found[kind] = _checked(one)
    else:
        kinds = {"nccl": ("cuda",), "mpi": ("cpu",)}.get(_checked(name), ("cpu", "cuda"))
        found = dict.fromkeys(kinds, name)
    if found.get("cpu") == "nccl":
        raise ValueError(f"Invalid device:backend pairing: cpu:nccl\nNCCL is for GPUs; {_HERE}")
    if "nccl" in found.values():
        _nccl.check_gpus()
    return name, found


def is_gloo_available() -> bool:
    """Whether the package xoscar, which has Gloo, is installed."""
    return _gloo.is_available()


def is_nccl_available() -> bool:
    """Whether there are GPUs, and NCCL for them; on virtual GPUs, Gloo is their engine.

    >>> with torch.cuda.virtual(0):
    ...     torch.distributed.is_nccl_available()
    False
    """
    return _nccl.is_available()


def is_mpi_available() -> bool:
    """Whether the package mpi4py is installed, and mpiexec or srun started this process."""
    return _mpi.is_available() and _job.program() is not None


def is_ucc_available() -> bool:
    """False: there is no backend UCC."""
    return False


def is_xccl_available() -> bool:
    """False: there is no backend XCCL."""
    return False


def is_backend_available(backend: str) -> bool:
    """Whether there is a backend of this name.

    Args:
        backend: "gloo", "nccl" or another.

    >>> torch.distributed.is_backend_available("smoke_signals")
    False
    """
    known = {"gloo": is_gloo_available, "nccl": is_nccl_available, "mpi": is_mpi_available}
    found = known.get(backend.lower())
    return found is not None and found()


def get_default_backend_for_device(device) -> str:
    """The backend that serves a kind of device where none is named.

    Args:
        device: a device or its name.

    Raises:
        ValueError: no backend serves it.

    >>> torch.distributed.get_default_backend_for_device("cuda:1")
    'nccl'
    """
    if (found := Backend.default_device_backend_map.get(_C.device(device).type)) is None:
        raise ValueError(f"Default backend not registered for device : {device}")
    return found
