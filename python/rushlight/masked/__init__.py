"""torch.masked: reductions and normalisations of what a mask leaves of a dense tensor. A lane of
which it leaves nothing gets what the operation gives to no elements: 0 for a sum, NaN for a mean.

>>> torch.masked.sum(torch.tensor([1., 2., 4.]), mask=torch.tensor([True, False, True]))
tensor(5.)
"""

from rushlight.masked import _ops as _ops
from rushlight.masked._ops import *  # noqa: F403
from rushlight.masked._ops import __all__ as __all__


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
