"""torch.distributed: several processes that compute together.

    >>> import torch.distributed as dist  # doctest: +SKIP
    >>> dist.init_process_group("gloo")  # doctest: +SKIP
    >>> dist.all_reduce(x)  # doctest: +SKIP

RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT describe the world. _world.py has the groups,
_collectives.py what they do, _gloo.py the engine, csrc/distributed the stores. One process needs no
engine.
"""

import importlib
import warnings

from rushlight.distributed import device_mesh, distributed_c10d
from rushlight.distributed.device_mesh import DeviceMesh, init_device_mesh
from rushlight.distributed.distributed_c10d import *  # noqa: F403
from rushlight.distributed.rendezvous import register_rendezvous_handler, rendezvous

__all__ = [
    *distributed_c10d.__all__,
    "DeviceMesh",
    "device_mesh",
    "init_device_mesh",
    "register_rendezvous_handler",
    "rendezvous",
]


def __getattr__(name):
    if name == "nn":
        return importlib.import_module("rushlight.distributed.nn")
    if name == "reduce_op":  # of torch 1.0
        warnings.warn(
            "`torch.distributed.reduce_op` is deprecated, "
            "please use `torch.distributed.ReduceOp` instead",
            FutureWarning,
            stacklevel=2,
        )
        return distributed_c10d.ReduceOp
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    if name in ("algorithms", "checkpoint", "fsdp", "optim", "tensor"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"torch.distributed.{name} is not in rushlight 0.1", name=name)
