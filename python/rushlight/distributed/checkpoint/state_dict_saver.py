"""save and async_save."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from enum import Enum

from rushlight import _C
from rushlight.distributed import distributed_c10d as c10d
from rushlight.distributed._world import _group_of
from rushlight.distributed.checkpoint import _plan
from rushlight.distributed.checkpoint.api import CheckpointException, Ranks
from rushlight.distributed.checkpoint.filesystem import FileSystemWriter
from rushlight.distributed.checkpoint.stateful import Stateful
from rushlight.distributed.tensor import DTensor

__all__ = ["AsyncCheckpointerType", "async_save", "save", "save_state_dict"]


class AsyncCheckpointerType(Enum):
    """How async_save() works beside the program: in a thread."""

    THREAD = "thread"
    PROCESS = "process"


def _writer(checkpoint_id, storage_writer, planner):
    if planner is not None:
        raise NotImplementedError("checkpoint: planner= is not in rushlight 0.1")
    if storage_writer is None:
        if checkpoint_id is None:
            raise RuntimeError(
                "`checkpoint_id` must be specified if storage_reader/storage_writer is None."
            )
        return FileSystemWriter(checkpoint_id)
    if not isinstance(storage_writer, FileSystemWriter):
        raise NotImplementedError(
            f"checkpoint: a storage_writer is a FileSystemWriter in rushlight 0.1, not "
            f"{type(storage_writer).__name__}"
        )
    if checkpoint_id is not None:
        return FileSystemWriter(checkpoint_id, overwrite=storage_writer.overwrite)
    return storage_writer


def _states(state_dict):
    if not isinstance(state_dict, dict):
        raise TypeError(f"checkpoint: state_dict must be a dict, not {type(state_dict).__name__}")
    return {
        key: each.state_dict() if isinstance(each, Stateful) else each
        for key, each in state_dict.items()
    }


def save(
    state_dict, *, checkpoint_id=None, storage_writer=None, planner=None, process_group=None,
    no_dist=False, use_collectives=True,
):  # fmt: skip
    """Writes the state of all ranks to one folder; all of them call it.

    A DTensor's parts are written by the ranks that have them, the rest once. The folder has the
    earlier checkpoint until the new one is whole.

    Args:
        state_dict: tensors, DTensors, scalars and strings in nested dicts and lists; or objects
            with state_dict(), such as modules.
        checkpoint_id: the folder.
        storage_writer: a FileSystemWriter, instead of checkpoint_id.
        planner: None.
        process_group: the ranks; the default group where it is None.
        no_dist: this process alone.
        use_collectives: accepted, not used.

    Returns:
        The Metadata.

    Raises:
        CheckpointException: a rank failed; it is named, on all ranks.

    >>> import torch.distributed.checkpoint as dcp  # doctest: +SKIP
    >>> dcp.save({"model": model}, checkpoint_id="folder")  # doctest: +SKIP
    """
    writer, ranks = _writer(checkpoint_id, storage_writer, planner), Ranks(process_group, no_dist)
    return _save(_states(state_dict), writer, ranks)


def save_state_dict(
    state_dict, storage_writer, process_group=None, coordinator_rank=0, no_dist=False, planner=None
):
    """save() under its former name, with a writer.

    Args:
        state_dict: as of save().
        storage_writer: a FileSystemWriter.
        process_group, no_dist, planner: as of save().
        coordinator_rank: accepted; the first rank writes what is common.

    Returns:
        The Metadata.

    >>> import torch.distributed.checkpoint as dcp  # doctest: +SKIP
    >>> dcp.save_state_dict(model.state_dict(), dcp.FileSystemWriter("folder"))  # doctest: +SKIP
    """
    warnings.warn(
        "`save_state_dict` is deprecated and will be removed in future versions."
        "Please use `save` instead.",
        FutureWarning,
        stacklevel=2,
    )
    return save(
        state_dict, storage_writer=storage_writer, planner=planner, process_group=process_group,
        no_dist=no_dist,
    )  # fmt: skip


def _save(states, writer, ranks):
    values = {}

    def look():
        writer._prepare()
        flat, paths = _plan.flattened(states)
        values.update(flat)
        return paths, _plan.items_of(values)

    found = ranks.everybody("save: the state dictionary", look)
    items = found[ranks.rank][1]
    every = [each for _, each in found]
    paths = {name: path for some, _ in reversed(found) for name, path in some.items()}
    metadata = _plan.metadata_of(every, paths)
    mine = _plan.assigned(every)[ranks.rank]
    written = []

    def write():
        pairs = [(i.index, _copied(values[i.name])) for i in items if i.key in mine]
        written.extend(writer._write(ranks.rank, pairs))
        return written

    try:
        for pairs in ranks.everybody("save: writing", write):
            for index, info in pairs:
                metadata.storage_data[_plan.indexed(metadata, index)] = info
        ranks.everybody(
            "save: .metadata", lambda: writer._finish(metadata) if ranks.rank == 0 else None
        )
    except CheckpointException:  # all ranks know that there is no new .metadata
        writer._remove({info.relative_path for _, info in written})
        raise
    return metadata


def _copied(value):
    """What is written of a tensor: its own elements, on the CPU."""
    if not isinstance(value, _C.Tensor):
        return value
    local = value._local_tensor if isinstance(value, DTensor) else value
    return local.detach().cpu().contiguous().clone()


_thread = ThreadPoolExecutor(1, "checkpoint")
_groups: dict[int, tuple] = {}


def async_save(
    state_dict, *, checkpoint_id=None, storage_writer=None, planner=None, process_group=None,
    async_checkpointer_type=AsyncCheckpointerType.THREAD, async_stager=None, no_dist=False,
    use_collectives=True,
):  # fmt: skip
    """save() in a thread, of a copy that is made first; all ranks call it.

    Args:
        state_dict: as of save.
        checkpoint_id: the folder.
        storage_writer: a FileSystemWriter, instead of checkpoint_id.
        planner: None.
        process_group: the ranks; the default group where it is None.
        async_checkpointer_type: AsyncCheckpointerType.THREAD.
        async_stager: None.
        no_dist: this process alone.
        use_collectives: accepted, not used.

    Returns:
        A concurrent.futures.Future, whose result() is the Metadata.

    >>> future = torch.distributed.checkpoint.async_save(
    ...     {"model": model}, checkpoint_id="folder")  # doctest: +SKIP
    >>> future.result()  # doctest: +SKIP
    """
    if async_checkpointer_type is not AsyncCheckpointerType.THREAD or async_stager is not None:
        raise NotImplementedError(
            "async_save(): AsyncCheckpointerType.THREAD, without async_stager, is all that is in "
            "rushlight 0.1"
        )
    group = _group_of(process_group) if c10d.is_initialized() else None
    if group is not None and _C.device("cpu") not in group._device_types:
        raise AssertionError(
            "A CPU backend must be enabled for async save; try initializing process group with "
            "'cpu:gloo,cuda:nccl'"
        )
    writer = _writer(checkpoint_id, storage_writer, planner)
    if not c10d.is_initialized() and not no_dist:
        warnings.warn("async_save(): no process group is there: this process alone", stacklevel=2)
    ranks = Ranks(process_group, no_dist)
    if ranks.group is not None:
        ranks.group = _own_group(ranks.group)
    copies = _staged(_states(state_dict))
    return _thread.submit(_save, copies, writer, ranks)


def _own_group(group):
    """A group of the same ranks for the thread: its calls do not mix with the program's."""
    known = _groups.get(id(group))
    if known is None or known[0] is not group:
        ranks = c10d.get_process_group_ranks(group)
        known = group, c10d.new_group(ranks, use_local_synchronization=True, sort_ranks=False)
        _groups[id(group)] = known
    return known[1]


def _staged(value):
    if isinstance(value, DTensor):
        return value._of_part(lambda local: local.detach().cpu().clone())
    if isinstance(value, _C.Tensor):
        return value.detach().cpu().clone()
    if isinstance(value, dict):
        return {key: _staged(each) for key, each in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(_staged(each) for each in value)
    return value
