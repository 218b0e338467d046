"""The functions of torch.masked under the module path by which torch's docstrings call them."""

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
