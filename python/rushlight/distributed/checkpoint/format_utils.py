"""A checkpoint as one file of torch.save(), and back. One process does it."""

from __future__ import annotations

import rushlight
from rushlight.distributed.checkpoint.filesystem import FileSystemReader
from rushlight.distributed.checkpoint.metadata import TensorStorageMetadata
from rushlight.distributed.checkpoint.state_dict_loader import _info, whole
from rushlight.distributed.checkpoint.state_dict_saver import save

__all__ = ["dcp_to_torch_save", "torch_save_to_dcp"]


def dcp_to_torch_save(dcp_checkpoint_dir, torch_save_path):
    """Writes all that a checkpoint has to one file, which torch.load() reads.

    Args:
        dcp_checkpoint_dir: the folder.
        torch_save_path: the file.

    >>> format_utils.dcp_to_torch_save("folder", "model.pt")  # doctest: +SKIP
    """
    rushlight.save(_everything(FileSystemReader(dcp_checkpoint_dir)), torch_save_path)


def torch_save_to_dcp(torch_save_path, dcp_checkpoint_dir):
    """Writes what a file of torch.save() has as a checkpoint, which any number of ranks loads.

    Args:
        torch_save_path: the file; it is loaded with weights_only=True.
        dcp_checkpoint_dir: the folder.

    >>> format_utils.torch_save_to_dcp("model.pt", "folder")  # doctest: +SKIP
    """
    state = rushlight.load(torch_save_path, map_location="cpu", weights_only=True)
    save(state, checkpoint_id=dcp_checkpoint_dir, no_dist=True)


def _everything(reader):
    metadata = reader.read_metadata()
    stored = {(index.fqn, index.offset): info for index, info in metadata.storage_data.items()}
    found = {}
    for name, entry in metadata.state_dict_metadata.items():
        if isinstance(entry, TensorStorageMetadata):
            value = whole(reader, stored, name, entry)
        else:
            value = reader._read(_info(stored, name, None))
        path = (metadata.planner_data or {}).get(name, (name,))
        if type(path) is not tuple or not all(type(key) in (str, int) for key in path) or not path:
            raise ValueError(f"{name} has no path in the checkpoint's .metadata")
        _add(found, path, value)
    return _lists(found)


def _add(found, path, value):
    for key in path[:-1]:
        found = found.setdefault(key, {})
        if not isinstance(found, dict):
            raise ValueError(f"{path} goes through a value in the checkpoint's .metadata")
    found[path[-1]] = value


def _lists(value):
    """Dicts whose keys are numbers were lists."""
    if type(value) is not dict:
        return value
    found = {key: _lists(each) for key, each in value.items()}
    if found and all(type(key) is int for key in found):
        return [found[key] for key in sorted(found)]
    return found
