"""Optimizers for several ranks: state that is divided, parameters that are averaged."""

from rushlight.distributed.optim.post_localSGD_optimizer import PostLocalSGDOptimizer
from rushlight.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer

__all__ = ["PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
