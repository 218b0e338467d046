# The memory of a device. "allocated": blocks of tensors, rounded up to 512 bytes. "reserved":
# what the allocator has taken from the device, in segments of 2 MiB, 20 MiB or more.
from ._device import _cuda, device_index
from ._snapshot import (  # noqa: F401
    _dump_snapshot,
    _record_memory_history,
    _snapshot,
    memory_snapshot,
)

__all__ = [
    "empty_cache",
    "get_per_process_memory_fraction",
    "list_gpu_processes",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
]


def memory_stats(device=None) -> dict:
    """All figures of a device's allocator, by torch's names ("allocated_bytes.all.peak", ...).

    Empty before CUDA is in use.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     x = torch.zeros(1000, device="cuda")
    ...     torch.cuda.memory_stats()["allocated_bytes.all.peak"]
    4096
    """
    return dict(sorted(_cuda.memory_stats(device_index(device)).items())) if _in_use() else {}


def memory_stats_as_nested_dict(device=None) -> dict:
    """`memory_stats` as nested dicts.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     x = torch.zeros(1000, device="cuda")
    ...     torch.cuda.memory_stats_as_nested_dict()["allocated_bytes"]["all"]["peak"]
    4096
    """
    nested: dict = {}
    for name, value in memory_stats(device).items():
        inner = nested
        *path, last = name.split(".")
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return nested


def _in_use() -> bool:
    return _cuda.is_initialized()


def _figure(device, name: str) -> int:
    return _cuda.memory_stats(device_index(device))[name] if _in_use() else 0


def memory_allocated(device=None) -> int:
    """Bytes of a device that tensors occupy.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     x = torch.zeros(1000, device="cuda")
    ...     torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
    (4096, 2097152)
    """
    return _figure(device, "allocated_bytes.all.current")


def max_memory_allocated(device=None) -> int:
    """The most bytes that tensors occupied at once since the last `reset_peak_memory_stats`.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     x = torch.zeros(1000, device="cuda")
    ...     del x
    ...     torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()
    (0, 4096)
    """
    return _figure(device, "allocated_bytes.all.peak")


def memory_reserved(device=None) -> int:
    """Bytes that the allocator has reserved on a device, for tensors now and later.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     x = torch.zeros(1000, device="cuda")
    ...     torch.cuda.memory_reserved()
    2097152
    """
    return _figure(device, "reserved_bytes.all.current")


def max_memory_reserved(device=None) -> int:
    """The most bytes reserved at once since the last `reset_peak_memory_stats`.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     x = torch.zeros(1000, device="cuda")
    ...     torch.cuda.max_memory_reserved()
    2097152
    """
    return _figure(device, "reserved_bytes.all.peak")


memory_cached, max_memory_cached = memory_reserved, max_memory_reserved  # their old names


def reset_peak_memory_stats(device=None) -> None:
    """Resets all peaks to the current values.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     torch.zeros(1000, device="cuda").sum().item()
    ...     torch.cuda.reset_peak_memory_stats()
    ...     torch.cuda.max_memory_allocated()
    0.0
    0
    """
    _cuda.reset_memory_stats(device_index(device), True)


def reset_accumulated_memory_stats(device=None) -> None:
    """Resets all sums ("allocated", "freed", number of retries) to 0.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.reset_accumulated_memory_stats()
    """
    _cuda.reset_memory_stats(device_index(device), False)


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats


def mem_get_info(device=None) -> tuple[int, int]:
    """(free, total) bytes of a device.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1, memory="1GiB"):
    ...     free, total = torch.cuda.mem_get_info()
    ...     total
    1073741824
    """
    return _cuda.memory_info(device_index(device))


def empty_cache() -> None:
    """Releases reserved memory that no tensor uses to the devices.

    >>> with torch.cuda.virtual(1):
    ...     x = torch.zeros(1000, device="cuda")
    ...     del x
    ...     torch.cuda.empty_cache()
    ...     torch.cuda.memory_reserved()
    0
    """
    if _in_use():
        _cuda.empty_cache()


def set_per_process_memory_fraction(fraction: float, device=None) -> None:
    """Limits how much of a device's memory this process uses.

    Args:
        fraction: from 0 to 1.
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.set_per_process_memory_fraction(0.5)
    """
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    index = device_index(device)
    limit = int(mem_get_info(index)[1] * fraction)
    _cuda.limit_memory(index, limit)
    _fractions[limit] = fraction


_fractions: dict[int, float] = {}  # of which each limit was made: it is rounded to bytes


def get_per_process_memory_fraction(device=None) -> float:
    """What set_per_process_memory_fraction() has set; 1.0 before.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.get_per_process_memory_fraction()
    1.0
    """
    index = device_index(device)
    return _fractions.get(_cuda.memory_limit(index), 1.0) if _in_use() else 1.0


def _size_text(number: int) -> str:
    for unit in ("B  ", "KiB", "MiB", "GiB", "TiB"):
        if abs(number) < 750 * 1024 or unit == "TiB":
            return f"{number:7d} {unit}"
        number //= 1024
    raise AssertionError


def _count_text(number: int) -> str:
    for unit in (" ", "K", "M"):
        if abs(number) < 750_000 or unit == "M":
            return f"{number:7d} {unit}  "
        number //= 1000
    raise AssertionError


_ROWS = (
    ("allocated_bytes", "Allocated memory", _size_text),
    ("active_bytes", "Active memory", _size_text),
    ("requested_bytes", "Requested memory", _size_text),
    ("reserved_bytes", "GPU reserved memory", _size_text),
    ("inactive_split_bytes", "Non-releasable memory", _size_text),
    ("allocation", "Allocations", _count_text),
    ("active", "Active allocs", _count_text),
    ("segment", "GPU reserved segments", _count_text),
    ("inactive_split", "Non-releasable allocs", _count_text),
)


def memory_summary(device=None, abbreviated: bool = False) -> str:
    """A table of `memory_stats`, to print when memory runs out.

    Args:
        device: index, string or torch.device; the current device if None.
        abbreviated: leave out the rows of the two pools.

    >>> with torch.cuda.virtual(1):
    ...     "Allocated memory" in torch.cuda.memory_summary()
    True
    """
    index = device_index(device)
    stats = _cuda.memory_stats(index)
    double, single = "|" + "=" * 75 + "|", "|" + "-" * 75 + "|"
    lines = [
        double,
        f"|{f'PyTorch CUDA memory summary, device ID {index}':^75}|",
        single,
        f"|{'CUDA OOMs: ' + str(stats['num_ooms']):^37}"
        f"|{'cudaMalloc retries: ' + str(stats['num_alloc_retries']):^37}|",
        double,
        "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |",
    ]
    pools = (("all", ""), ("large_pool", "      from large pool"), ("small_pool", ""))
    for name, title, text in _ROWS:
        lines.append(single)
        for pool, label in pools[: 1 if abbreviated else 3]:
            label = title if pool == "all" else label or "      from small pool"
            cells = (stats[f"{name}.{pool}.{c}"] for c in ("current", "peak", "allocated", "freed"))
            lines.append(f"| {label:<22}|" + "".join(f"{text(value):>11} |" for value in cells))
    return "\n".join([*lines, double, ""])


def list_gpu_processes(device=None) -> str:
    """The processes on a device, as text: this one, and how much memory it uses.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.list_gpu_processes().startswith("GPU:0")
    True
    """
    import os

    index = device_index(device)
    used = memory_reserved(index) / (1 << 20)
    lines = [f"GPU:{index}"]
    lines.append(
        f"process {os.getpid():>10d} uses {used:>12.3f} MB GPU memory"
        if used
        else "no processes are running"
    )
    return "\n".join(lines)
