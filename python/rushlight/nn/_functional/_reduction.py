"""What losses written in Python share: the choice and the work of a reduction."""

from __future__ import annotations

from rushlight import _C


def checked_reduction(size_average, reduce, reduction):
    """The reduction, from what a caller gave of the three."""
    if size_average is not None or reduce is not None:
        return _C._nn._legacy_reduction(size_average, reduce)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def reduced(loss, reduction):
    """The losses themselves, their mean or their sum."""
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss
