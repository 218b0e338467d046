"""torch.multiprocessing: Python's multiprocessing, whose queues and arguments may hold tensors.

A tensor travels by copy, unless share_memory_() has put it in memory that all processes see.

    >>> import torch.multiprocessing as mp  # doctest: +SKIP
    >>> mp.spawn(train, args=(model,), nprocs=2)  # doctest: +SKIP
"""

import multiprocessing
from multiprocessing import *  # noqa: F403
from multiprocessing import __all__ as _names

from rushlight.multiprocessing import _shared
from rushlight.multiprocessing.spawn import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = [
    *_names, "ProcessContext", "ProcessException", "ProcessExitedException",
    "ProcessRaisedException", "SpawnContext", "get_all_sharing_strategies", "get_sharing_strategy",
    "set_sharing_strategy", "spawn", "start_processes",
]  # fmt: skip
_shared.register()


def get_all_sharing_strategies() -> set[str]:
    """The ways in which memory is shared: by descriptors of files without a name.

    >>> torch.multiprocessing.get_all_sharing_strategies()
    {'file_descriptor'}
    """
    return {"file_descriptor"}


def get_sharing_strategy() -> str:
    """Always "file_descriptor"."""
    return "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """Accepts "file_descriptor", and "file_system", which is then not used."""
    if new_strategy not in ("file_descriptor", "file_system"):
        raise AssertionError(f"there is no sharing strategy {new_strategy!r}")


def __getattr__(name):
    return getattr(multiprocessing, name)
