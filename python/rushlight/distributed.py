"""torch.distributed: the checks for it, which are all False.

Programs check before they use it; everything else of it is absent, and says so.
"""

__all__ = [
    "is_available", "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available",
    "is_torchelastic_launched",
]  # fmt: skip


def is_available() -> bool:
    """False: there are no process groups in rushlight.

    >>> torch.distributed.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """False: there is no process group."""
    return False


def is_nccl_available() -> bool:
    """False: there are no process groups in rushlight."""
    return False


def is_gloo_available() -> bool:
    """False: there are no process groups in rushlight."""
    return False


def is_mpi_available() -> bool:
    """False: there are no process groups in rushlight."""
    return False


def is_torchelastic_launched() -> bool:
    """False: rushlight has no launcher of process groups."""
    return False


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    raise AttributeError(
        f"torch.distributed.{name} is not in rushlight 0.1: it has no process groups\n"
        "nn.DataParallel uses several GPUs from one process",
        name=name,
    )
