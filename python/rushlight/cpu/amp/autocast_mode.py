"""autocast for the CPU under its older name."""

from rushlight import amp, bfloat16
from rushlight.amp._old_names import warn_of_module

__all__ = ["autocast"]


class autocast(amp.autocast):
    """The older form of torch.amp.autocast("cpu").

    Args:
        enabled: False ends an outer autocast inside.
        dtype: the shorter dtype.
        cache_enabled: accepted; casts of weights are not kept.

    >>> import warnings; warnings.simplefilter("ignore")
    >>> with torch.cpu.amp.autocast():
    ...     (torch.ones(2, 2) @ torch.ones(2, 2)).dtype
    torch.bfloat16
    """

    def __init__(self, enabled=True, dtype=bfloat16, cache_enabled=True):
        warn_of_module("cpu", "autocast")
        super().__init__("cpu", dtype, enabled, cache_enabled)
