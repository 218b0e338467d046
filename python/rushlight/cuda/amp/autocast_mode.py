"""autocast for GPUs under its older name."""

from functools import partial

from rushlight import amp
from rushlight.amp._old_names import warn_of_module

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


class autocast(amp.autocast):
    """The older form of torch.amp.autocast("cuda").

    Args:
        enabled: False ends an outer autocast inside.
        dtype: the shorter dtype.
        cache_enabled: accepted; casts of weights are not kept.

    >>> import warnings; warnings.simplefilter("ignore")
    >>> with torch.cuda.virtual(1), torch.cuda.amp.autocast():
    ...     (torch.ones(2, 2, device="cuda") @ torch.ones(2, 2, device="cuda")).dtype
    torch.float16
    """

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        warn_of_module("cuda", "autocast")
        super().__init__("cuda", dtype, enabled, cache_enabled)


custom_fwd = partial(amp.custom_fwd, device_type="cuda")
custom_bwd = partial(amp.custom_bwd, device_type="cuda")
