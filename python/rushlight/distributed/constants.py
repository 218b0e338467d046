"""torch.distributed.constants: how long process groups wait by default."""

from datetime import timedelta

from rushlight.distributed.rendezvous import default_pg_timeout

__all__ = ["default_pg_nccl_timeout", "default_pg_timeout"]

default_pg_nccl_timeout = timedelta(minutes=10)
