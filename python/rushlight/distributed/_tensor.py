"""torch.distributed._tensor, the old name of torch.distributed.tensor."""

from rushlight.distributed.tensor import *  # noqa: F403
