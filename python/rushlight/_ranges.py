"""torch.range, which includes its end. A file of its own: it has a builtin's name."""

from __future__ import annotations

import math
import warnings

from rushlight import _C
from rushlight._table import op

__all__ = ["range"]


@op("torch")
def range(start, end, step=1, *, out=None, dtype=None, layout=None, device=None,
          requires_grad=False):  # fmt: skip
    """start, start + step, ... up to and including end; floats if no dtype is given. torch.arange,
    which stops before its end, has taken its place.

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
        start, start + past, step, out=out, dtype=dtype, device=device, requires_grad=requires_grad
    )
