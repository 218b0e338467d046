"""torch.distributed._composable.fsdp, the old name of torch.distributed.fsdp."""

from rushlight.distributed.fsdp import *  # noqa: F403
