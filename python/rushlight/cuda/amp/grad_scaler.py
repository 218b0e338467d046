"""GradScaler for GPUs under its older name."""

from rushlight import amp
from rushlight.amp._old_names import warn_of_module

__all__ = ["GradScaler"]


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
        warn_of_module("cuda", "GradScaler")
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )
