"""use_deterministic_algorithms and its relatives. Every algorithm repeats its results, whatever is
set, but these on real GPUs: cuDNN's quickest convolution, where cudnn.benchmark is on; the gradient
of grid_sample's input, whose sums are atomic; index_put_ and max_unpool where an index repeats.
"""

from __future__ import annotations

from rushlight import _C
from rushlight._table import op

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_deterministic_debug_mode",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_deterministic_debug_mode",
    "use_deterministic_algorithms",
]

_MODES = {"default": 0, "warn": 1, "error": 2}
_enabled = _warn_only = False
_fills = True


def _set(enabled, warn_only):
    global _enabled, _warn_only
    _enabled, _warn_only = enabled, warn_only
    _C._set_switch("deterministic_algorithms", enabled)
    _C._set_switch("fills_new_memory", enabled and _fills)


def fills_new_memory():
    return _fills


def fill_new_memory(fills):
    """Whether empty() and its like fill what they give, while deterministic algorithms are on."""
    global _fills
    _fills = fills
    _C._set_switch("fills_new_memory", _enabled and fills)


@op("torch")
def use_deterministic_algorithms(mode, *, warn_only=False):
    """Chooses algorithms that give the same results each time.

    Args:
        mode: whether to.
        warn_only: kept; there is nothing to warn of.

    >>> torch.use_deterministic_algorithms(True)
    >>> torch.are_deterministic_algorithms_enabled()
    True
    >>> torch.use_deterministic_algorithms(False)
    """
    for name, flag in (("mode", mode), ("warn_only", warn_only)):
        if not isinstance(flag, bool):
            raise TypeError(
                f"use_deterministic_algorithms(): argument '{name}' must be bool, not "
                f"{type(flag).__name__}"
            )
    _set(mode, warn_only)


@op("torch")
def are_deterministic_algorithms_enabled():
    """Whether use_deterministic_algorithms() is on.

    >>> torch.are_deterministic_algorithms_enabled()
    False
    """
    return _enabled


@op("torch")
def is_deterministic_algorithms_warn_only_enabled():
    """Whether use_deterministic_algorithms() is on with warn_only.

    >>> torch.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _warn_only


@op("torch")
def set_deterministic_debug_mode(debug_mode):
    """use_deterministic_algorithms() by a name or a level.

    Args:
        debug_mode: "default" or 0, "warn" or 1, "error" or 2.

    >>> torch.set_deterministic_debug_mode("default")
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str) and debug_mode not in _MODES:
        raise RuntimeError(
            "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
            f"{debug_mode}"
        )
    mode = _MODES[debug_mode] if isinstance(debug_mode, str) else debug_mode
    if mode not in _MODES.values():
        raise RuntimeError(
            f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}"
        )
    _set(mode > 0, mode == 1)


@op("torch")
def get_deterministic_debug_mode():
    """The level of set_deterministic_debug_mode(), 0 to 2.

    >>> torch.get_deterministic_debug_mode()
    0
    """
    return 0 if not _enabled else 1 if _warn_only else 2
