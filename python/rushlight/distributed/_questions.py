"""Questions about the groups, their ranks and what there is."""

from __future__ import annotations

import os

from rushlight.distributed import _job
from rushlight.distributed._world import GroupMember, _default, _group_of, _State


def is_available() -> bool:
    """True: process groups are here; is_gloo_available() tells of their engine.

    >>> torch.distributed.is_available()
    True
    """
    return True


def is_initialized() -> bool:
    """Whether there is a default group.

    >>> torch.distributed.is_initialized()
    False
    """
    return GroupMember.WORLD is not None


def is_torchelastic_launched() -> bool:
    """Whether a launcher such as torchrun started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def get_rank(group=None) -> int:
    """The index of this process in a group; -1 where it is not in it.

    Args:
        group: the default group where it is None.
    """
    found = _group_of(group)
    return -1 if found is None else found.rank()


def get_world_size(group=None) -> int:
    """How many processes are in a group; -1 where this one is not.

    Args:
        group: the default group where it is None.
    """
    found = _group_of(group)
    return -1 if found is None else found.size()


def get_backend(group=None) -> str:
    """The backend of a group: "gloo", "nccl", several such as "cpu:gloo,cuda:nccl", or "undefined"
    where none was named.

    Args:
        group: the default group where it is None.
    """
    found = _group_of(group)
    if found is None:
        raise ValueError("Invalid process group specified")
    return found._backend


def get_backend_config(group=None) -> str:
    """The backends of a group by kind of device, such as "cpu:gloo,cuda:nccl".

    Args:
        group: the default group where it is None.
    """
    if (found := _group_of(group)) is None:
        raise ValueError("Invalid process group specified")
    return ",".join(f"{kind}:{backend}" for kind, backend in found._served.items())


def get_process_group_ranks(group) -> list[int]:
    """The ranks in the default group of a group's members, in the order of the group.

    Args:
        group: the default group where it is None.
    """
    return list((_group_of(group) or _default())._ranks)


def get_global_rank(group, group_rank: int) -> int:
    """The rank in the default group of a group's member.

    Args:
        group: the group.
        group_rank: the member's rank in it.
    """
    ranks = get_process_group_ranks(group)
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def get_group_rank(group, global_rank: int) -> int:
    """The rank in a group of a member of the default group.

    Args:
        group: the group.
        global_rank: the rank in the default group.
    """
    ranks = get_process_group_ranks(group)
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)


def get_node_local_rank(fallback_rank=None) -> int:
    """The rank of this process on its host: LOCAL_RANK, or what srun or mpiexec say.

    Args:
        fallback_rank: where the variable is not set.
    """
    if (found := os.environ.get("LOCAL_RANK") or _job.variable("LOCAL_RANK")) is not None:
        return int(found)
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
        "`get_node_local_rank` to work when running locally."
    )


def get_pg_count() -> int:
    """How many groups this process is in."""
    return len(_State.groups)
