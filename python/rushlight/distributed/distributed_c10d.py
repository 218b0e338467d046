"""torch.distributed's functions, under the name of the module that libraries import them from."""

import sys

from rushlight import _C
from rushlight.distributed import _group_calls
from rushlight.distributed._backend import (
    Backend,
    DebugLevel,
    get_debug_level,
    set_debug_level,
    set_debug_level_from_env,
)
from rushlight.distributed._backend_config import (
    get_default_backend_for_device,
    is_backend_available,
    is_gloo_available,
    is_mpi_available,
    is_nccl_available,
    is_ucc_available,
    is_xccl_available,
)
from rushlight.distributed._buckets import GradBucket
from rushlight.distributed._coalesced import (  # noqa: F401  libraries use the private one
    _coalescing_manager,
    all_gather_coalesced,
    all_reduce_coalesced,
)
from rushlight.distributed._collectives import (
    all_gather,
    all_gather_into_tensor,
    all_reduce,
    barrier,
    broadcast,
    gather,
    monitored_barrier,
    reduce,
    scatter,
)
from rushlight.distributed._exchanges import (
    all_to_all,
    all_to_all_single,
    reduce_scatter,
    reduce_scatter_tensor,
)
from rushlight.distributed._group import ProcessGroup
from rushlight.distributed._objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from rushlight.distributed._point_to_point import (
    P2POp,
    batch_isend_irecv,
    irecv,
    isend,
    recv,
    send,
)
from rushlight.distributed._questions import (
    get_backend,
    get_backend_config,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_pg_count,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    is_available,
    is_initialized,
    is_torchelastic_launched,
)
from rushlight.distributed._reduce_op import ReduceOp, supports_complex
from rushlight.distributed._subgroups import (
    new_subgroups,
    new_subgroups_by_enumeration,
    split_group,
)
from rushlight.distributed._work import Work
from rushlight.distributed._world import (
    GroupMember,
    _default,
    _default_store,
    destroy_process_group,
    group,
    init_process_group,
    new_group,
)
from rushlight.distributed.rendezvous import default_pg_timeout

DistBackendError = _C._distributed.DistBackendError
DistError = _C._distributed.DistError
DistNetworkError = _C._distributed.DistNetworkError
DistStoreError = _C._distributed.DistStoreError
FileStore = _C._distributed.FileStore
HashStore = _C._distributed.HashStore
PrefixStore = _C._distributed.PrefixStore
QueueEmptyError = _C._distributed.QueueEmptyError
Store = _C._distributed.Store
TCPStore = _C._distributed.TCPStore
all_gather_single = all_gather_into_tensor
reduce_scatter_single = reduce_scatter_tensor

_group_calls._module[:] = [sys.modules[__name__]]

# What libraries import from here by torch's private names.
_get_default_group = _default
_get_default_store = _default_store


def _rank_not_in_group(group) -> bool:
    return group == GroupMember.NON_GROUP_MEMBER


__all__ = [
    "Backend",
    "DebugLevel",
    "DistBackendError",
    "DistError",
    "DistNetworkError",
    "DistStoreError",
    "FileStore",
    "GradBucket",
    "GroupMember",
    "HashStore",
    "P2POp",
    "PrefixStore",
    "ProcessGroup",
    "QueueEmptyError",
    "ReduceOp",
    "Store",
    "TCPStore",
    "Work",
    "__all__",
    "all_gather",
    "all_gather_coalesced",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_gather_single",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "default_pg_timeout",
    "destroy_process_group",
    "gather",
    "gather_object",
    "get_backend",
    "get_backend_config",
    "get_debug_level",
    "get_default_backend_for_device",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_pg_count",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "irecv",
    "is_available",
    "is_backend_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
    "isend",
    "monitored_barrier",
    "new_group",
    "new_subgroups",
    "new_subgroups_by_enumeration",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_single",
    "reduce_scatter_tensor",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
    "set_debug_level",
    "set_debug_level_from_env",
    "split_group",
    "supports_complex",
]
