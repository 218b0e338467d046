"""torch.distributed.tensor: a tensor of which each rank of a DeviceMesh holds a part.

placement_types.py says which part, _redistribute.py moves parts, _api.py has DTensor. Its
operations are those that optimizers and state dictionaries need (_pointwise.py, _norm.py).
"""

from rushlight.distributed.device_mesh import DeviceMesh, init_device_mesh
from rushlight.distributed.tensor import placement_types
from rushlight.distributed.tensor._api import DTensor, distribute_tensor
from rushlight.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = [
    "DTensor",
    "DeviceMesh",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "distribute_tensor",
    "init_device_mesh",
    "placement_types",
]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    raise AttributeError(
        f"torch.distributed.tensor.{name} is not in rushlight 0.1, which has no tensor parallelism",
        name=name,
    )
