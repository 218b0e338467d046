"""Apple's GPUs: there are none here, and these functions answer as torch's do without one."""

from typing import NoReturn

__all__ = [
    "current_allocated_memory",
    "device_count",
    "driver_allocated_memory",
    "empty_cache",
    "is_available",
    "manual_seed",
    "recommended_max_memory",
    "synchronize",
]


def device_count() -> int:
    """0: rushlight has no Metal devices.

    >>> torch.mps.device_count()
    0
    """
    return 0


def is_available() -> bool:
    """False: rushlight has no Metal devices.

    >>> torch.mps.is_available()
    False
    """
    return False


def manual_seed(seed: int) -> None:
    """Does nothing where there is no device.

    >>> torch.mps.manual_seed(0)
    """


def _refuse(what: str) -> NoReturn:
    raise RuntimeError(f"Cannot execute {what}() without MPS backend.")


def synchronize() -> None:
    """Raises RuntimeError: there is no device to wait for."""
    _refuse("deviceSynchronize")


def empty_cache() -> None:
    """Raises RuntimeError: there is no device."""
    _refuse("emptyCache")


def current_allocated_memory() -> int:
    """Raises RuntimeError: there is no device."""
    _refuse("getCurrentAllocatedMemory")


def driver_allocated_memory() -> int:
    """Raises RuntimeError: there is no device."""
    _refuse("getDriverAllocatedMemory")


def recommended_max_memory() -> int:
    """Raises RuntimeError: there is no device."""
    _refuse("getRecommendedMaxMemory")
