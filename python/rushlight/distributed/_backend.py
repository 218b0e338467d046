"""Backend, the names of backends, and how much torch.distributed says while it works."""

from __future__ import annotations

import enum
import os


class Backend(str):
    """The name of a backend in lower case.

    Args:
        name: in any case.

    >>> torch.distributed.Backend("GLOO")
    'gloo'
    """

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"
    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI]
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL}

    def __new__(cls, name: str):
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return name.lower()

    @classmethod
    def register_backend(cls, name, func, extended_api=False, devices=None):
        """Refuses: backends are those of this package.

        Args:
            name: what init_process_group would be given.
            func: what would make the backend.
            extended_api: of torch's.
            devices: which devices it would serve.
        """
        raise NotImplementedError(
            f"Backend.register_backend({name!r}): rushlight has no backends but its own, 'gloo' "
            "for the CPU and 'nccl' for GPUs"
        )


class DebugLevel(enum.IntEnum):
    """What TORCH_DISTRIBUTED_DEBUG may be. All checks of this package are made at every level.

    >>> torch.distributed.DebugLevel.INFO.name
    'INFO'
    """

    OFF = 0
    INFO = 1
    DETAIL = 2

    def __str__(self):
        return f"DebugLevel.{self.name}"


_level: list[DebugLevel] = []


def set_debug_level(level) -> None:
    """What get_debug_level returns from now on.

    Args:
        level: a DebugLevel.

    >>> torch.distributed.set_debug_level(torch.distributed.DebugLevel.OFF)
    """
    _level[:] = [DebugLevel(level)]


def set_debug_level_from_env() -> None:
    """Reads TORCH_DISTRIBUTED_DEBUG again.

    Raises:
        RuntimeError: it is not OFF, INFO or DETAIL.

    >>> torch.distributed.set_debug_level_from_env()
    """
    name = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF")
    if name.upper() not in DebugLevel.__members__:
        raise RuntimeError(
            f"The value of TORCH_DISTRIBUTED_DEBUG must be OFF, INFO, or DETAIL.\nit is {name!r}"
        )
    set_debug_level(DebugLevel[name.upper()])


def get_debug_level() -> DebugLevel:
    """What TORCH_DISTRIBUTED_DEBUG says, or what set_debug_level has set.

    >>> torch.distributed.get_debug_level()
    <DebugLevel.OFF: 0>
    """
    if not _level:
        set_debug_level_from_env()
    return _level[0]
