"""GPUs: which there are, their memory, streams, events and random numbers; virtual GPUs.

Importing this touches no device. CUDA comes into use with the first tensor on a GPU, or `init`.
"""

from .. import _C
from .._dtype_names import TENSOR_TYPES as _TENSOR_TYPES
from . import memory, nvtx, random, streams
from ._device import (
    CudaError,
    DeferredCudaCallError,
    can_device_access_peer,
    current_device,
    device,
    device_count,
    device_of,
    get_arch_list,
    get_device_capability,
    get_device_name,
    get_device_properties,
    get_gencode_flags,
    init,
    is_available,
    is_bf16_supported,
    is_initialized,
    is_tf32_supported,
    set_device,
    synchronize,
)
from ._monitor import (
    clock_rate,
    device_memory_used,
    get_sync_debug_mode,
    memory_usage,
    power_draw,
    set_sync_debug_mode,
    temperature,
    utilization,
)
from ._virtual import virtual
from .memory import *  # noqa: F403
from .memory import __all__ as _of_memory
from .random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from .streams import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)

OutOfMemoryError = _C.OutOfMemoryError
_lazy_init = init


def _lazy_call(callable, **kwargs):
    """Calls it: there is nothing to wait for."""
    callable()


__all__ = [
    *_of_memory,
    *_TENSOR_TYPES,
    "CudaError",
    "DeferredCudaCallError",
    "Event",
    "OutOfMemoryError",
    "Stream",
    "StreamContext",
    "can_device_access_peer",
    "clock_rate",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_memory_used",
    "device_of",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_gencode_flags",
    "get_rng_state",
    "get_rng_state_all",
    "get_sync_debug_mode",
    "init",
    "initial_seed",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "is_tf32_supported",
    "manual_seed",
    "manual_seed_all",
    "memory",
    "memory_usage",
    "nvtx",
    "power_draw",
    "random",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "set_sync_debug_mode",
    "stream",
    "streams",
    "synchronize",
    "temperature",
    "utilization",
    "virtual",
]


def ipc_collect() -> None:
    """Has no effect: no memory of a GPU is shared between processes here.

    >>> torch.cuda.ipc_collect()
    """


def _is_in_bad_fork() -> bool:
    """Whether this is a forked child of a process that had CUDA in use."""
    return _C._cuda.is_forked()


def __getattr__(name):
    if name == "_initialized":
        return is_initialized()
    if name == "default_generators":
        return tuple(random._generator(i) for i in range(device_count()))
    if name in ("amp", "comm", "nccl", "profiler", "sparse"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    if name in _TENSOR_TYPES:
        from .._tensor_types import make_type

        value = globals()[name] = make_type(name, "cuda")
        return value
    from .._importable import find

    return find(__name__, name)
