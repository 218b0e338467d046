# What a GPU is doing: waits of the host for it, and the figures of its sensors, which NVIDIA's
# management library gives (nvidia-ml-py). Virtual GPUs are never busy, and have no sensors: 0.
from .. import _C
from ._device import device_index, init

_MODES = {"default": 0, "warn": 1, "error": 2}


def set_sync_debug_mode(debug_mode) -> None:
    """Makes calls that wait for a GPU (`item()`, copies between host and GPU, `nonzero()`, masks as
    indices) warn, or raise: on virtual GPUs too, so that a test finds what would slow a real one.

    Args:
        debug_mode: "default" or 0, "warn" or 1, "error" or 2

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.set_sync_debug_mode("error")
    ...     try:
    ...         torch.ones(1, device="cuda:0").item()
    ...     except RuntimeError as error:
    ...         print(str(error).splitlines()[0])
    ...     torch.cuda.set_sync_debug_mode("default")
    called a synchronizing CUDA operation
    """
    init()
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
                f"{debug_mode}"
            )
        debug_mode = _MODES[debug_mode]
    if debug_mode not in _MODES.values():
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1 or 2, but got {debug_mode}")
    _C._cuda.set_sync_debug_mode(int(debug_mode))


def get_sync_debug_mode() -> int:
    """The level of set_sync_debug_mode(), 0 to 2.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.get_sync_debug_mode()
    0
    """
    init()
    return _C._cuda.sync_debug_mode()


def _read(device, read) -> int:
    """What `read` makes of the library and its handle of a GPU."""
    index = device_index(device)
    if "virtual" in _C._cuda.provider():
        return 0
    try:
        import pynvml  # type: ignore[import-not-found]
    except ImportError as error:
        raise ModuleNotFoundError(
            "nvidia-ml-py does not seem to be installed or it can't be imported.\n"
            "to install it: pip install nvidia-ml-py"
        ) from error
    from ._device import get_device_properties

    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByUUID(str(get_device_properties(index).uuid))
    return read(pynvml, handle)


def utilization(device=None) -> int:
    """Percent of the last moments in which a kernel was running.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     0 <= torch.cuda.utilization() <= 100
    True
    """
    return _read(device, lambda nvml, handle: nvml.nvmlDeviceGetUtilizationRates(handle).gpu)


def memory_usage(device=None) -> int:
    """Percent of the last moments in which memory was being read or written.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     0 <= torch.cuda.memory_usage() <= 100
    True
    """
    return _read(device, lambda nvml, handle: nvml.nvmlDeviceGetUtilizationRates(handle).memory)


def temperature(device=None) -> int:
    """The temperature of a device in degrees Celsius.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.temperature() >= 0
    True
    """
    return _read(device, lambda nvml, handle: nvml.nvmlDeviceGetTemperature(handle, 0))


def power_draw(device=None) -> int:
    """The power draw of a device in milliwatts.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.power_draw() >= 0
    True
    """
    return _read(device, lambda nvml, handle: nvml.nvmlDeviceGetPowerUsage(handle))


def clock_rate(device=None) -> int:
    """The clock rate of a device's multiprocessors in megahertz.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.clock_rate() >= 0
    True
    """
    return _read(device, lambda nvml, handle: nvml.nvmlDeviceGetClockInfo(handle, 1))


def device_memory_used(device=None) -> int:
    """Bytes of a device's memory that are in use, by any process.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.device_memory_used() >= 0
    True
    """
    free, total = _C._cuda.memory_info(device_index(device))
    return total - free
