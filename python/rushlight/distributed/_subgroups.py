"""Several groups at a time: new_subgroups, new_subgroups_by_enumeration, split_group."""

from __future__ import annotations

from rushlight.distributed._group import ProcessGroup
from rushlight.distributed._world import _default, _group_of, new_group


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list, timeout=None, backend=None, pg_options=None, group_desc=None
):
    """Several groups without a common rank; (the group of this process or None, all groups).

    Args:
        ranks_per_subgroup_list: the ranks of each group.
        timeout: as of init_process_group.
        backend: as of init_process_group.
        pg_options: accepted, not used.
        group_desc: a name for people.
    """
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    every = [rank for ranks in ranks_per_subgroup_list for rank in ranks]
    if len(set(every)) < len(every):
        raise ValueError(f"a rank is in two subgroups: {ranks_per_subgroup_list}")
    made = [
        new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        for ranks in ranks_per_subgroup_list
    ]
    own = [each for each in made if isinstance(each, ProcessGroup)]
    return (own[0] if own else None), made


def new_subgroups(
    group_size=None, group=None, timeout=None, backend=None, pg_options=None, group_desc=None
):
    """Groups of as many neighbouring ranks each; (the group of this process, all groups).

    Args:
        group_size: how many ranks; None for all.
        group: what is divided; the default group where it is None.
        timeout: as of init_process_group.
        backend: as of init_process_group.
        pg_options: accepted, not used.
        group_desc: a name for people.
    """
    members = (_group_of(group) or _default())._ranks
    size = len(members)
    group_size = size if group_size is None else group_size
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if size < group_size:
        raise ValueError(
            f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})"
        )
    if size % group_size:
        raise ValueError(f"The world size ({size}) must be divisible by '{group_size=}'")
    ranks = [members[i : i + group_size] for i in range(0, size, group_size)]
    return new_subgroups_by_enumeration(ranks, timeout, backend, pg_options, group_desc)


def split_group(
    parent_pg=None, split_ranks=None, timeout=None, pg_options=None, group_desc=None, backend=None
):
    """Divides a group, which all its members call; returns the part of this process, or None.

    Args:
        parent_pg: what is divided; the default group where it is None.
        split_ranks: for each part, the ranks in `parent_pg`.
        timeout: as of init_process_group.
        pg_options: accepted, not used.
        group_desc: a name for people.
        backend: as of init_process_group.

    Raises:
        ValueError: a rank is in two parts, or in none of the group's.

    >>> torch.distributed.split_group(split_ranks=[[0, 1], [2, 3]])  # doctest: +SKIP
    """
    parent = _group_of(parent_pg)
    if parent is None:
        raise ValueError("split_group() is called by the members of parent_pg alone")
    if not split_ranks or not all(split_ranks):
        raise ValueError("split_ranks cannot be empty")
    every = [rank for ranks in split_ranks for rank in ranks]
    if len(set(every)) < len(every):
        raise ValueError(f"the split ranks have duplicate ranks: {split_ranks}")
    if wrong := [rank for rank in every if not 0 <= rank < parent.size()]:
        raise ValueError(f"there are no ranks {wrong} in a group of {parent.size()}")
    for ranks in split_ranks:
        if parent.rank() in ranks:
            return new_group(
                [parent._ranks[rank] for rank in sorted(ranks)], timeout, backend, pg_options,
                use_local_synchronization=True, group_desc=group_desc,
            )  # fmt: skip
    return None
