"""Running a module on several GPUs or in several processes: the names of torch.nn.parallel."""

import importlib

from rushlight.nn.parallel import comm
from rushlight.nn.parallel.data_parallel import DataParallel, data_parallel
from rushlight.nn.parallel.parallel_apply import parallel_apply
from rushlight.nn.parallel.replicate import replicate
from rushlight.nn.parallel.scatter_gather import gather, scatter, scatter_kwargs

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "comm",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
    "scatter_kwargs",
]


def __getattr__(name):
    if name in ("distributed", "DistributedDataParallel"):  # it brings torch.distributed
        module = importlib.import_module("rushlight.nn.parallel.distributed")
        globals()["DistributedDataParallel"] = module.DistributedDataParallel
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
