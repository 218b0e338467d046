# Which device a torch.cuda function means, and which one is current. Devices are given as None (the
# current one), an index, a string or a torch.device; everything here ends in an index.
from .. import _C

_cuda = _C._cuda


def device_index(device=None, optional=True) -> int:
    """The index that `device` means; None and "cuda" mean the current one where `optional`."""
    given = device
    if isinstance(device, str):
        device = _C.device(device)
    if isinstance(device, _C.device):
        if device.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {device}")
        device = device.index
    if device is None:
        if not optional:
            raise ValueError(
                f"Expected a torch.device with a specified index or an integer, but got:{given}"
            )
        return _cuda.current_device()
    return int(device)


def init() -> None:
    """Brings CUDA into use now instead of at the first CUDA call. Harmless when repeated.

    Raises: RuntimeError, saying why there is no CUDA and how to get real or virtual GPUs.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.init()
    ...     torch.cuda.is_initialized()
    True
    """
    _cuda.init()


def is_available() -> bool:
    """Whether there is a GPU, real or virtual. Never raises.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.is_available()
    True
    """
    return _cuda.device_count() > 0


def device_count() -> int:
    """The number of visible GPUs; CUDA_VISIBLE_DEVICES is read at the first call and not again.

    >>> with torch.cuda.virtual(3):
    ...     torch.cuda.device_count()
    3
    """
    return _cuda.device_count()


def is_initialized() -> bool:
    """Whether CUDA is in use in this process.

    >>> with torch.cuda.virtual(1):
    ...     x = torch.ones(1, device="cuda")
    ...     torch.cuda.is_initialized()
    True
    """
    return _cuda.is_initialized()


def current_device() -> int:
    """The index of the device that "cuda" means in this thread.

    >>> with torch.cuda.virtual(2), torch.cuda.device(1):
    ...     torch.cuda.current_device()
    1
    """
    return _cuda.current_device()


def set_device(device) -> None:
    """Makes a device the current one of this thread.

    `with torch.cuda.device(1)` is to be preferred: it ends.

    Args:
        device: index, string or torch.device; a negative index changes nothing.

    >>> with torch.cuda.virtual(2):
    ...     torch.cuda.set_device(1)
    ...     torch.ones(1, device="cuda").device
    device(type='cuda', index=1)
    """
    index = device_index(device)
    if index >= 0:
        _cuda.set_device(index)


class device:
    """Context in which "cuda" means another device.

    Args:
        device: index, string or torch.device; None or a negative index changes nothing.

    >>> with torch.cuda.virtual(2), torch.cuda.device(1):
    ...     torch.zeros(2, device="cuda")
    tensor([0., 0.], device='cuda:1')
    """

    def __init__(self, device):
        self.idx = -1 if device is None else device_index(device)
        self.prev_idx = -1

    def __enter__(self):
        if self.idx >= 0:
            self.prev_idx = _cuda.current_device()
            _cuda.set_device(self.idx)
        return self

    def __exit__(self, *_):
        if self.idx >= 0 and self.prev_idx < _cuda.device_count():
            _cuda.set_device(self.prev_idx)
        return False


class device_of(device):
    """Context in which "cuda" means the device of a tensor; with a CPU tensor nothing changes.

    Args:
        obj: the tensor.

    >>> with torch.cuda.virtual(2), torch.cuda.device_of(torch.ones(1, device="cuda:1")):
    ...     torch.cuda.current_device()
    1
    """

    def __init__(self, obj):
        super().__init__(obj.get_device() if obj.is_cuda else -1)


class DeviceProperties:
    """What a GPU is: name, major, minor, total_memory (bytes), multi_processor_count, ..."""

    name: str
    uuid: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    L2_cache_size: int

    def __init__(self, figures: dict):
        self.__dict__.update(figures)
        self.gcnArchName = self.name
        self.is_integrated = self.is_multi_gpu_board = 0

    def __repr__(self):
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory >> 20}MB, "
            f"multi_processor_count={self.multi_processor_count}, uuid={self.uuid[4:]}, "
            f"L2_cache_size={self.L2_cache_size >> 20}MB)"
        )


def get_device_properties(device=None) -> DeviceProperties:
    """Name, capability, memory and processors of a device.

    Args:
        device: index, string or torch.device; the current device if None.

    Raises: AssertionError, if there is no such device.

    >>> with torch.cuda.virtual(1, profile="a100"):
    ...     torch.cuda.get_device_properties(0).multi_processor_count
    108
    """
    _cuda.init()
    index = device_index(device)
    count = _cuda.device_count()
    if not 0 <= index < count:
        raise AssertionError(
            f"Invalid device id\ndevice {index} was given, and {count} "
            f"{'is' if count == 1 else 'are'} visible"
        )
    return DeviceProperties(_cuda.properties(index))


def get_device_name(device=None) -> str:
    """The name of a device; that of a virtual GPU says that it is virtual.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.get_device_name(0)
    'Tesla T4 (virtual)'
    """
    return get_device_properties(device).name


def get_device_capability(device=None) -> tuple[int, int]:
    """The compute capability of a device, such as (8, 6).

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1, profile="a100"):
    ...     torch.cuda.get_device_capability(0)
    (8, 0)
    """
    properties = get_device_properties(device)
    return properties.major, properties.minor


more_to_wait_for: set = set()  # functions of an index: work that is not in the device's streams


def synchronize(device=None) -> None:
    """Waits until all work on a device is done.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.synchronize()
    """
    index = device_index(device)
    _cuda.synchronize(index)
    for wait in more_to_wait_for:
        wait(index)


def can_device_access_peer(device, peer_device) -> bool:
    """Whether `device` can read the memory of `peer_device` directly.

    Args:
        device, peer_device: index, string or torch.device.

    >>> with torch.cuda.virtual(2):
    ...     torch.cuda.can_device_access_peer(0, 1)
    True
    """
    indices = device_index(device, False), device_index(peer_device, False)
    for index in indices:
        get_device_properties(index)
    return _cuda.can_access_peer(*indices)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether bfloat16 works: in hardware from capability 8 on, else computed in float32.

    Args:
        including_emulation: count the computation in float32 too.

    >>> with torch.cuda.virtual(1, profile="t4"):
    ...     torch.cuda.is_bf16_supported(including_emulation=False)
    False
    """
    if not is_available():
        return False
    return including_emulation or get_device_capability()[0] >= 8


def is_tf32_supported() -> bool:
    """Whether the hardware has TF32: from capability 8 on.

    >>> with torch.cuda.virtual(1, profile="a100"):
    ...     torch.cuda.is_tf32_supported()
    True
    """
    return is_available() and get_device_capability()[0] >= 8


class CudaError(RuntimeError):
    """A CUDA call that failed, by its number; calls here raise torch.AcceleratorError.

    Args:
        code: the number.

    >>> str(torch.cuda.CudaError(2))
    'CUDA error 2'
    """

    def __init__(self, code: int) -> None:
        super().__init__(f"CUDA error {code}")


class DeferredCudaCallError(Exception):
    """A call that waited for CUDA to come into use, and failed then.

    >>> issubclass(torch.cuda.DeferredCudaCallError, Exception)
    True
    """


def get_gencode_flags() -> str:
    """get_arch_list() as nvcc's options; empty without a GPU.

    >>> torch.cuda.get_gencode_flags()
    ''
    """
    numbers = [name.removeprefix("sm_") for name in get_arch_list()]
    return " ".join(f"-gencode compute=compute_{n},code=sm_{n}" for n in numbers)


def get_arch_list() -> list[str]:
    """The architectures that the CUDA kernels are made for; empty without a GPU.

    >>> torch.cuda.get_arch_list() is not None
    True
    """
    return ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"] if is_available() else []


def _get_device_index(device, optional=False, allow_cpu=False) -> int:
    """The index that `device` means, as DataParallel's relatives ask: -1 for the CPU, if that is
    allowed, and the current GPU for None or "cuda" where `optional`."""
    if isinstance(device, str):
        device = _C.device(device)
    if allow_cpu and isinstance(device, _C.device) and device.type == "cpu":
        return -1
    if hasattr(device, "idx"):  # what torch.cuda.device() made
        return device.idx
    return device_index(device, optional)
