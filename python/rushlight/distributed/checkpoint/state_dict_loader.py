"""load: a checkpoint into the tensors of a state dictionary, however they lie now."""

from __future__ import annotations

import warnings

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.distributed.checkpoint import _plan
from rushlight.distributed.checkpoint.api import Ranks
from rushlight.distributed.checkpoint.filesystem import FileSystemReader
from rushlight.distributed.checkpoint.metadata import TensorStorageMetadata
from rushlight.distributed.checkpoint.state_dict_saver import _states
from rushlight.distributed.checkpoint.stateful import Stateful
from rushlight.distributed.tensor import DTensor

__all__ = ["load", "load_state_dict"]


def load(
    state_dict, *, checkpoint_id=None, storage_reader=None, planner=None, process_group=None,
    no_dist=False,
):  # fmt: skip
    """Reads a checkpoint into a state dictionary, in place; all ranks call it.

    Each rank reads what its tensors need, whatever number of ranks has saved it.

    Args:
        state_dict: what is wanted: tensors and DTensors, which are written to, other values, which
            are replaced, or objects with load_state_dict(), such as modules.
        checkpoint_id: the folder.
        storage_reader: a FileSystemReader, instead of checkpoint_id.
        planner: None.
        process_group: the ranks; the default group where it is None.
        no_dist: this process alone.

    Raises:
        CheckpointException: on all ranks: the folder has no checkpoint, or lacks a key, or a tensor
            has another size, or a file is damaged. No tensor was changed if keys or sizes are
            wrong.

    >>> import torch.distributed.checkpoint as dcp  # doctest: +SKIP
    >>> dcp.load({"model": model}, checkpoint_id="folder")  # doctest: +SKIP
    """
    if planner is not None:
        raise NotImplementedError("checkpoint: planner= is not in rushlight 0.1")
    if storage_reader is None:
        if checkpoint_id is None:
            raise RuntimeError(
                "`checkpoint_id` must be specified if storage_reader/storage_writer is None."
            )
        storage_reader = FileSystemReader(checkpoint_id)
    elif not isinstance(storage_reader, FileSystemReader):
        raise NotImplementedError(
            "checkpoint: a storage_reader is a FileSystemReader in rushlight 0.1, not "
            f"{type(storage_reader).__name__}"
        )
    elif checkpoint_id is not None:
        storage_reader = FileSystemReader(checkpoint_id)
    ranks, states = Ranks(process_group, no_dist), _states(state_dict)
    plan = []
    ranks.everybody("load: .metadata", lambda: plan.append(_compared(states, storage_reader)))
    metadata, values, paths = plan[0]
    ranks.everybody("load: reading", lambda: _read(storage_reader, metadata, states, values, paths))
    for key, each in state_dict.items():
        if isinstance(each, Stateful):
            each.load_state_dict(states[key])
        else:
            state_dict[key] = states[key]


def load_state_dict(
    state_dict, storage_reader, process_group=None, coordinator_rank=0, no_dist=False, planner=None
):
    """load() under its former name, with a reader.

    Args:
        state_dict: as of load().
        storage_reader: a FileSystemReader.
        process_group, no_dist, planner: as of load().
        coordinator_rank: accepted; every rank reads for itself.

    >>> import torch.distributed.checkpoint as dcp  # doctest: +SKIP
    >>> dcp.load_state_dict(state, dcp.FileSystemReader("folder"))  # doctest: +SKIP
    """
    warnings.warn(
        "`load_state_dict` is deprecated and will be removed in future versions. "
        "Please use `load` instead.",
        FutureWarning,
        stacklevel=2,
    )
    return load(
        state_dict, storage_reader=storage_reader, planner=planner, process_group=process_group,
        no_dist=no_dist,
    )  # fmt: skip


def _compared(states, reader):
    """What is to be read, all of which the checkpoint has."""
    try:
        metadata = reader.read_metadata()
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no checkpoint in {reader.path}: no .metadata") from None
    values, paths = _plan.flattened(states)
    for name, value in values.items():
        entry = metadata.state_dict_metadata.get(name)
        if entry is None:
            raise RuntimeError(f"Missing key in checkpoint state_dict: {name}.")
        if not isinstance(value, _C.Tensor):
            continue
        if not isinstance(entry, TensorStorageMetadata):
            raise RuntimeError(f"{name} is a tensor, and in the checkpoint it is none")
        if tuple(entry.size) != tuple(value.shape):
            raise ValueError(
                f"Size mismatch between saved {entry.size} and current: {value.shape} for {name}"
            )
    return metadata, values, paths


def _read(reader, metadata, states, values, paths):
    stored = {(index.fqn, index.offset): info for index, info in metadata.storage_data.items()}
    with no_grad():
        for name, value in values.items():
            entry = metadata.state_dict_metadata[name]
            if not isinstance(entry, TensorStorageMetadata):
                _plan.put(states, paths[name], reader._read(_info(stored, name, None)))
            elif isinstance(value, _C.Tensor):
                _fill(reader, stored, name, entry, value)
            else:
                _plan.put(states, paths[name], whole(reader, stored, name, entry))


def _info(stored, name, offset):
    try:
        return stored[name, offset]
    except KeyError:
        raise ValueError(f"the checkpoint's .metadata says of no file that it has {name}") from None


def _chunk(reader, stored, name, chunk):
    found = reader._read(_info(stored, name, chunk.offsets))
    if not isinstance(found, _C.Tensor) or tuple(found.shape) != tuple(chunk.sizes):
        raise ValueError(f"{name}: a part is not the tensor {tuple(chunk.sizes)} that it should be")
    return found


def _fill(reader, stored, name, entry, value):
    target, where = value.detach(), ((0,) * value.dim(), tuple(value.shape))
    if isinstance(value, DTensor):
        target, where = value._local_tensor, _plan.own_part(value)
    if where is None:
        return
    filled = 0
    for chunk in entry.chunks:
        if (both := _plan.overlap(*where, chunk)) is None:
            continue
        into, out = both
        part = _chunk(reader, stored, name, chunk)[out]
        target[into].copy_(part) if into else target.copy_(part)
        filled += part.numel()
    if filled != target.numel():
        raise ValueError(f"{name}: the checkpoint has {filled} of {target.numel()} elements")


def whole(reader, stored, name, entry):
    """A tensor of the checkpoint."""
    made = _C.empty(tuple(entry.size), dtype=entry.properties.dtype)
    _fill(reader, stored, name, entry, made)
    return made
