"""torch.masked: reductions and normalisations of what a mask leaves of a dense tensor. A lane of
which it leaves nothing gets what the operation gives to no elements: 0 for a sum, NaN for a mean.

>>> torch.masked.sum(torch.tensor([1., 2., 4.]), mask=torch.tensor([True, False, True]))
tensor(5.)
"""

from rushlight.masked import _ops as _ops
from rushlight.masked._moments import mean, median, norm, normalize, std, var
from rushlight.masked._reductions import (
    amax,
    amin,
    argmax,
    argmin,
    cumprod,
    cumsum,
    log_softmax,
    logaddexp,
    logsumexp,
    prod,
    softmax,
    softmin,
    sum,
)

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp",
    "logsumexp", "mean", "median", "norm", "normalize", "prod", "softmax", "softmin", "std", "sum",
    "var",
]  # fmt: skip


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
