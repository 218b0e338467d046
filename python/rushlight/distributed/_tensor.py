"""torch.distributed._tensor, the old name of torch.distributed.tensor."""

from rushlight.distributed.tensor import *  # noqa: F403

__path__ = []  # of modules in rushlight._importable
