"""torch.cuda.amp: the older names of torch.amp for GPUs."""

from functools import partial
from warnings import warn

from .. import amp

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


def _deprecated(name):
    warn(
        f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use "
        f"`torch.amp.{name}('cuda', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )


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
        _deprecated("autocast")
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """The older form of torch.amp.GradScaler("cuda").

    Args:
        init_scale: the first scale.
        growth_factor: above 1.
        backoff_factor: below 1.
        growth_interval: steps without an overflow before the scale grows.
        enabled: False makes scale() return its argument and step() a plain step.

    >>> import warnings; warnings.simplefilter("ignore")
    >>> torch.cuda.amp.GradScaler(enabled=False).get_scale()
    1.0
    """

    def __init__(
        self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
        enabled=True,
    ):  # fmt: skip
        _deprecated("GradScaler")
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )


custom_fwd = partial(amp.custom_fwd, device_type="cuda")
custom_bwd = partial(amp.custom_bwd, device_type="cuda")
