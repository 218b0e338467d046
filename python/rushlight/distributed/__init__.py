"""torch.distributed: what several processes find each other by, so far; no process groups yet.

>>> store = torch.distributed.HashStore()
>>> store.set("color", "green")
>>> store.get("color")
b'green'
"""

from rushlight import _C

DistBackendError = _C._distributed.DistBackendError
DistError = _C._distributed.DistError
DistNetworkError = _C._distributed.DistNetworkError
DistStoreError = _C._distributed.DistStoreError
FileStore = _C._distributed.FileStore
HashStore = _C._distributed.HashStore
PrefixStore = _C._distributed.PrefixStore
QueueEmptyError = _C._distributed.QueueEmptyError
Store = _C._distributed.Store
TCPStore = _C._distributed.TCPStore

__all__ = [
    "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "FileStore",
    "HashStore", "PrefixStore", "QueueEmptyError", "Store", "TCPStore", "is_available",
    "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available",
    "is_torchelastic_launched",
]  # fmt: skip


def is_available() -> bool:
    """False: there are no process groups in rushlight yet.

    >>> torch.distributed.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """False: there is no process group."""
    return False


def is_nccl_available() -> bool:
    """False: there are no process groups in rushlight yet."""
    return False


def is_gloo_available() -> bool:
    """False: there are no process groups in rushlight yet."""
    return False


def is_mpi_available() -> bool:
    """False: there are no process groups in rushlight yet."""
    return False


def is_torchelastic_launched() -> bool:
    """False: rushlight has no launcher of process groups yet."""
    return False


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    raise AttributeError(
        f"torch.distributed.{name} is not in rushlight 0.1: it has no process groups\n"
        "nn.DataParallel uses several GPUs from one process",
        name=name,
    )
