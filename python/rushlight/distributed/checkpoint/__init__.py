"""torch.distributed.checkpoint: the state of several processes in one folder, in torch's layout.

Each rank writes what it has to a file of its own; `.metadata`, written last, lists what is where,
so that any number of ranks can load it. _plan.py assigns what each rank writes, filesystem.py has
the files, _metadata_file.py reads `.metadata` without running code.
"""

from rushlight.distributed.checkpoint import (
    filesystem,
    format_utils,
    metadata,
    state_dict,
    state_dict_loader,
    state_dict_saver,
    stateful,
)
from rushlight.distributed.checkpoint.api import CheckpointException
from rushlight.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from rushlight.distributed.checkpoint.metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    TensorStorageMetadata,
)
from rushlight.distributed.checkpoint.state_dict_loader import load, load_state_dict
from rushlight.distributed.checkpoint.state_dict_saver import async_save, save, save_state_dict

__all__ = [
    "BytesStorageMetadata",
    "CheckpointException",
    "ChunkStorageMetadata",
    "FileSystemReader",
    "FileSystemWriter",
    "Metadata",
    "TensorStorageMetadata",
    "async_save",
    "filesystem",
    "format_utils",
    "load",
    "load_state_dict",
    "metadata",
    "save",
    "save_state_dict",
    "state_dict",
    "state_dict_loader",
    "state_dict_saver",
    "stateful",
]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    raise AttributeError(f"torch.distributed.checkpoint.{name} is not in rushlight 0.1", name=name)
