# torch.cuda.virtual: virtual GPUs, at any time, as often as one likes.
from .. import _C
from . import _nvidia_smi


class VirtualGpus:
    """What `virtual` returns: a context at whose end the GPUs from before are back."""

    def __init__(self, before, device):
        self._before = before
        self._device = device  # the current one of then; None if CUDA was not in use

    def __enter__(self):
        return self

    def __exit__(self, *_):
        before, self._before = self._before, None
        if before is not None:
            _C._cuda.virtual_restore(before)
            if self._device is not None:
                _C._cuda.set_device(self._device)
            _nvidia_smi.follow()
        return False


def _listed(value) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def virtual(count: int, profile="t4", memory=None) -> VirtualGpus:
    """Makes `count` virtual GPUs, replacing all GPUs there were; 0 ends them.

    They behave as real ones do (memory of their own with a capacity, errors where devices mix,
    streams, a generator each) and compute on the CPU: for logic, not for speed. Their names say
    that they are virtual. As a call it lasts until the next; as a `with` block it ends with the
    block, and tensors on the GPUs from before are good again. A tensor whose GPUs are gone raises
    RuntimeError when used.

    Args:
        count: 0 to 64
        profile: t4, v100, a100, h100, rtx3060, rtx4090, ... (`torch.cuda.virtual.profiles()`), or
            a list with one for each
        memory: of each GPU, in bytes or as "2GiB", or a list; default: the profile's

    Raises: ValueError, which lists the profiles there are.

    >>> with torch.cuda.virtual(2, profile="a100", memory="2GiB"):
    ...     x = torch.arange(3, device="cuda:1") * 2
    ...     torch.cuda.device_count(), torch.cuda.get_device_name(1)
    (2, 'NVIDIA A100-SXM4-40GB (virtual)')
    """
    device = _C._cuda.current_device() if _C._cuda.is_initialized() else None
    before = _C._cuda.virtual_replace(int(count), _listed(profile), _listed(memory))
    _nvidia_smi.follow()
    return VirtualGpus(before, device)


def profiles() -> dict:
    """Profile to (name, capability, bytes of memory, processors)."""
    return _C._cuda.virtual_profiles()


virtual.profiles = profiles  # type: ignore[attr-defined]


def from_environment() -> None:
    """Checks what RUSHLIGHT_VIRTUAL_GPUS, _PROFILE and _MEMORY say. Raises: ValueError."""
    _C._cuda.virtual_check_environment()
