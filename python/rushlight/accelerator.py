# torch.accelerator: the GPU by a name that fits any kind. Here that is cuda, or none.
from . import _C, cuda
from .cuda import device as device_index
from .cuda import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
    set_stream,
)

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]

is_available = cuda.is_available
device_count = cuda.device_count
current_stream = cuda.current_stream
synchronize = cuda.synchronize
get_memory_info = cuda.mem_get_info
current_device_index = current_device_idx = cuda.current_device
set_device_index = set_device_idx = cuda.set_device


def current_accelerator(check_available: bool = False):
    """The kind of accelerator, as a device without an index; None where there is none.

    Args:
        check_available: None also where there is no device.

    >>> with torch.cuda.virtual(1):
    ...     torch.accelerator.current_accelerator()
    device(type='cuda')
    """
    there = cuda.is_available() if check_available else _C._cuda.has_provider()
    return _C.device("cuda") if there else None
