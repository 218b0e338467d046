"""Creation ops that are compositions: torch.range, which includes its end, and empty_permuted."""

from __future__ import annotations

import builtins
import math
import warnings

from rushlight import _C
from rushlight._table import op

__all__ = ["empty_permuted", "range"]


@op("torch")
def range(start, end, step=1, *, out=None, dtype=None, layout=None, device=None,
          requires_grad=False, pin_memory=False):  # fmt: skip
    """start, start + step, ... up to and including end. Deprecated: use torch.arange, which stops
    before its end.

    Args:
        start, end, step: of the sequence.
        dtype: floating-point by default.
        layout, device, requires_grad, pin_memory: of the result.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     torch.range(1, 3)
    tensor([1., 2., 3.])
    """
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if dtype is None:
        dtype = _C.get_default_dtype() if out is None else out.dtype
    count = math.floor((end - start) / step) + 1
    past = (count - 0.5) * step if dtype.is_floating_point else count * step
    return _C.arange(
        start, start + past, step, out=out, dtype=dtype, layout=layout, device=device,
        requires_grad=requires_grad, pin_memory=pin_memory,
    )  # fmt: skip


@op("torch")
def empty_permuted(size, physical_layout, *, dtype=None, layout=None, device=None,
                   requires_grad=False, pin_memory=False):  # fmt: skip
    """An uninitialised tensor whose dimensions are in a given order in memory.

    Args:
        size: the shape.
        physical_layout: the dimensions, from the largest stride to the smallest.
        dtype, layout, device, requires_grad, pin_memory: of the result.

    >>> torch.empty_permuted((2, 3), (1, 0)).stride()
    (1, 2)
    """
    order = [d % len(size) if -len(size) <= d < len(size) else -1 for d in physical_layout]
    if len(order) != len(size):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {len(size)} is not equal to len(physical_layout) = {len(order)}"
        )
    if -1 in order:
        raise RuntimeError(f"Dimension out of range: physical_layout={list(physical_layout)}")
    if len(set(order)) < len(order):
        raise RuntimeError("Duplicate dim not allowed")
    made = _C.empty(
        [size[d] for d in order], dtype=dtype, layout=layout, device=device, pin_memory=pin_memory,
        requires_grad=False,
    ).permute([order.index(d) for d in builtins.range(len(size))])  # fmt: skip
    return made.requires_grad_(requires_grad)
