"""The groups of this process: init_process_group, destroy_process_group, new_group."""

from __future__ import annotations

import atexit
import warnings
from datetime import timedelta

from rushlight import _C
from rushlight.distributed import _gloo, _mpi, _nccl
from rushlight.distributed._backend_config import read_backend
from rushlight.distributed._group import ProcessGroup
from rushlight.distributed.rendezvous import default_pg_timeout, rendezvous


class GroupMember:
    """The default group (WORLD), and what new_group() returns on ranks outside the group.

    >>> torch.distributed.GroupMember.NON_GROUP_MEMBER  # doctest: +SKIP
    """

    WORLD: ProcessGroup | None = None
    NON_GROUP_MEMBER = -100


class _Groups(type):
    @property
    def WORLD(cls):
        """The default group, or None."""
        return GroupMember.WORLD


class group(metaclass=_Groups):
    """group.WORLD is the default group.

    >>> torch.distributed.group.WORLD
    """


class _State:
    store = None
    inits = 0  # of this process: keys of another time are not ours
    groups: list[ProcessGroup] = []
    named = 0


def _seconds(timeout):
    if timeout is None:
        timeout = default_pg_timeout
    if not isinstance(timeout, timedelta):
        raise TypeError(
            f"Expected timeout argument to be of type datetime.timedelta, got {type(timeout)}"
        )
    return min(max(timeout.total_seconds(), 0.001), 86400.0 * 365)


def init_process_group(
    backend=None,
    init_method=None,
    timeout=None,
    world_size=-1,
    rank=-1,
    store=None,
    group_name="",
    pg_options=None,
    device_id=None,
):
    """Makes the default group, which every process calls; it returns when all have come.

    Args:
        backend: "gloo" for CPUs, "nccl" for GPUs, "cpu:gloo,cuda:nccl" for both; what this process
            has devices for where it is None. "mpi" in programs that mpiexec or srun started.
        init_method: env:// (the default), tcp://HOST:PORT or file:///PATH.
        timeout: a timedelta; how long a call waits for the other ranks, 30 minutes by default.
        world_size: how many processes there are.
        rank: which of them this is.
        store: instead of init_method.
        group_name: accepted, not used.
        pg_options: accepted, not used.
        device_id: the GPU of this process, an index or a torch.device; with NCCL, tensors on others
            are refused, and two ranks on one GPU are an error at once.

    Raises:
        ValueError: it was called before, or arguments or variables are missing.
        DistStoreError: ranks are missing after the time-out; they are named.
        RuntimeError: the package xoscar, which has Gloo, is not installed.

    >>> torch.distributed.init_process_group("gloo", rank=0, world_size=1,
    ...     store=torch.distributed.HashStore())
    >>> torch.distributed.get_world_size()
    1
    >>> torch.distributed.destroy_process_group()
    """
    if GroupMember.WORLD is not None:
        raise ValueError("trying to initialize the default process group twice!")
    device, seconds = _nccl.check_device(device_id), _seconds(timeout)
    if backend is None and device is not None:
        backend = "nccl"
    _, served = read_backend(backend)  # says at once what is not here
    uses_mpi = "mpi" in served.values()
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    if store is not None:
        if not world_size > 0:
            raise AssertionError("world_size must be positive if using store")
        if not rank >= 0:
            raise AssertionError("rank must be non-negative if using store")
        if not isinstance(store, _C._distributed.Store):
            raise TypeError(f"init_process_group(): store must be a Store, not {type(store)}")
    elif uses_mpi:  # which has assigned the ranks
        store, rank, world_size = _mpi.world(seconds)
    else:
        wait = timedelta(seconds=seconds)
        found = rendezvous(init_method or "env://", rank, world_size, timeout=wait)
        store, rank, world_size = next(iter(found))
    if not 0 <= rank < world_size:
        raise ValueError(
            f"Invalid rank {rank}: ranks of a world of {world_size} are 0 to {world_size - 1}"
        )
    uses_gloo = "gloo" in served.values() or (not uses_mpi and _gloo.is_virtual())
    if world_size > 1 and uses_gloo:
        _gloo._load()  # says at once what is not installed
    _State.inits += 1
    _State.store, _State.named = store, 0
    name = f"rushlight/{_State.inits}/world"
    made = ProcessGroup(
        store, range(world_size), rank, backend, seconds, name, group_name or "default_pg", device
    )
    GroupMember.WORLD = made
    _State.groups = [made]


def destroy_process_group(group=None):
    """Ends a group, or with none given all of them; init_process_group may follow.

    Args:
        group: which one; None for all.

    Raises:
        ValueError: there is none.
    """
    if group == GroupMember.NON_GROUP_MEMBER:
        return
    one = group if group is not None else GroupMember.WORLD
    if one is None or one not in _State.groups:
        raise ValueError("Invalid process group specified or has been destroyed.")
    ended = list(_State.groups) if one is GroupMember.WORLD else [one]
    for each in reversed(ended):
        each._close()
        _State.groups.remove(each)
    if one is GroupMember.WORLD:
        GroupMember.WORLD = _State.store = None


@atexit.register
def _at_exit():
    if GroupMember.WORLD is not None:
        destroy_process_group()


def _default():
    if GroupMember.WORLD is None:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call "
            "init_process_group."
        )
    return GroupMember.WORLD


def _default_store():
    return _C._distributed.PrefixStore(_default().group_name, _State.store)


def _group_of(group):
    """The group that an argument means; None where this process is not in it."""
    found = _default() if group is None else group
    if found == GroupMember.NON_GROUP_MEMBER:
        return None
    if not isinstance(found, ProcessGroup):
        raise ValueError(
            "Invalid process group specified\n"
            f"group must be a ProcessGroup, not {type(found).__name__}"
        )
    found._check()
    return found


def _member(group, name):
    """The group; None, with a warning, where this process is not in it."""
    found = _group_of(group)
    if found is None:
        warnings.warn(
            f"Running {name} on global rank {_default().rank()} which does not belong to the given "
            "group.",
            stacklevel=3,
        )
    return found


def new_group(
    ranks=None,
    timeout=None,
    backend=None,
    pg_options=None,
    use_local_synchronization=False,
    group_desc=None,
    device_id=None,
    sort_ranks=True,
):
    """A group of some ranks. All processes of the default group call it, in the same order.

    Args:
        ranks: the members' ranks; None for all.
        timeout: as of init_process_group.
        backend: as of init_process_group.
        pg_options: accepted, not used.
        use_local_synchronization: only the members call it.
        group_desc: a name for people.
        device_id: as of init_process_group, whose device counts where it is None.
        sort_ranks: False keeps the given order.

    Returns:
        The group; GroupMember.NON_GROUP_MEMBER where this process is not in it.
    """
    world = _default()
    members = list(range(world.size())) if ranks is None else [int(r) for r in ranks]
    if sort_ranks or ranks is None:
        members.sort()
    for each in members:
        if not 0 <= each < world.size():
            raise ValueError(
                f"The new group's rank should be within the world_size set by "
                f"init_process_group: there is no rank {each} of {world.size()}"
            )
    if len(set(members)) < len(members):
        raise ValueError(f"the new group's ranks are not all different: {members}")
    seconds = world._timeout if timeout is None else _seconds(timeout)
    chosen = world._backend if backend is None else backend
    read_backend(chosen)
    device = _nccl.check_device(device_id)
    if device is None and world._nccl:
        device = world._nccl.bound
    if use_local_synchronization:
        if world.rank() not in members:
            return None
        number = "-".join(map(str, members))
        number += f"/{sum(each._ranks == members for each in _State.groups)}"
    else:
        _State.named += 1
        number = str(_State.named)
    if world.rank() not in members:
        return GroupMember.NON_GROUP_MEMBER
    name = f"rushlight/{_State.inits}/{number}"
    made = ProcessGroup(
        _State.store, members, members.index(world.rank()), chosen, seconds, name,
        group_desc or "undefined", device,
    )  # fmt: skip
    _State.groups.append(made)
    return made
