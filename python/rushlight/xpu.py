"""Intel's GPUs: there are none here, and these functions answer as torch's do without one."""

__all__ = ["device_count", "is_available", "is_initialized"]


def is_available() -> bool:
    """False: rushlight has no SYCL devices.

    >>> torch.xpu.is_available()
    False
    """
    return False


def device_count() -> int:
    """0: rushlight has no SYCL devices."""
    return 0


def is_initialized() -> bool:
    """False: there is nothing to initialize."""
    return False


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
