"""torch.multiprocessing.reductions: how tensors are pickled for another process.

`ForkingPickler` is Python's. What torch needs for storages in files has no use here: the names are
importable alone.
"""

from multiprocessing.reduction import ForkingPickler

from rushlight.multiprocessing._shared import _reduce as reduce_tensor
from rushlight.multiprocessing._shared import register as init_reductions

__all__ = ["ForkingPickler", "init_reductions", "reduce_tensor"]


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
