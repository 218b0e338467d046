"""Which implementations scaled_dot_product_attention() may take."""

import contextlib
import enum

from rushlight.backends import cuda

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.Enum):
    """An implementation of scaled dot-product attention. Here there is one, whatever it is called.

    Args:
        value: the number of a member.

    >>> torch.nn.attention.SDPBackend.MATH.name
    'MATH'
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __int__(self):
        return self.value

    __index__ = __int__


_SWITCHES = {
    SDPBackend.MATH: ("math_sdp_enabled", "enable_math_sdp"),
    SDPBackend.FLASH_ATTENTION: ("flash_sdp_enabled", "enable_flash_sdp"),
    SDPBackend.EFFICIENT_ATTENTION: ("mem_efficient_sdp_enabled", "enable_mem_efficient_sdp"),
    SDPBackend.CUDNN_ATTENTION: ("cudnn_sdp_enabled", "enable_cudnn_sdp"),
}


_overrideable = True  # has no switch of its own


def _cur_sdpa_kernel_backends(with_priority=False):
    """The implementations that are allowed; `with_priority`: in the order of torch's preference."""
    names = "FLASH EFFICIENT MATH CUDNN" if with_priority else "CUDNN FLASH EFFICIENT MATH"
    known = [SDPBackend["MATH" if n == "MATH" else f"{n}_ATTENTION"] for n in names.split()]
    allowed = [backend for backend in known if getattr(cuda, _SWITCHES[backend][0])()]
    return [*allowed, *([SDPBackend.OVERRIDEABLE] if _overrideable else [])]


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Allows these implementations and no others, for a `with` block.

    Args:
        backends: a SDPBackend or a list of them.
        set_priority: whether their order is a preference.

    Raises:
        AssertionError: for anything else.

    >>> with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
    ...     torch.backends.cuda.flash_sdp_enabled()
    False
    """
    chosen = [backends] if isinstance(backends, SDPBackend) else backends
    if not isinstance(chosen, list) or not all(isinstance(b, SDPBackend) for b in chosen):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    global _overrideable
    overrideable = _overrideable
    before = {backend: getattr(cuda, getter)() for backend, (getter, _) in _SWITCHES.items()}
    try:
        for backend, (_, switch) in _SWITCHES.items():
            getattr(cuda, switch)(backend in chosen)
        _overrideable = SDPBackend.OVERRIDEABLE in chosen
        yield {}
    finally:
        _overrideable = overrideable
        for backend, enabled in before.items():
            getattr(cuda, _SWITCHES[backend][1])(enabled)
