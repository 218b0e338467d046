"""What `.metadata` says: which parts of which tensors are where. Classes and fields are torch's,
as pickles name them (_metadata_file.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import rushlight
from rushlight import _C

__all__ = [
    "BytesStorageMetadata",
    "ChunkStorageMetadata",
    "Metadata",
    "MetadataIndex",
    "StorageMeta",
    "TensorProperties",
    "TensorStorageMetadata",
]


class _MEM_FORMAT_ENCODING(Enum):
    TORCH_CONTIGUOUS_FORMAT = 0
    TORCH_CHANNELS_LAST = 1
    TORCH_PRESERVE_FORMAT = 2


@dataclass
class ChunkStorageMetadata:
    """A part of a tensor: where it begins, and its sizes.

    Args:
        offsets: where it begins.
        sizes: how long it is.
    """

    offsets: _C.Size
    sizes: _C.Size


@dataclass
class TensorProperties:
    """What a tensor is beside its sizes.

    Args:
        dtype: its dtype.
        layout: torch.strided.
        requires_grad: whether it collected gradients.
        memory_format: of the memory it was saved from.
        pin_memory: whether that was pinned.
    """

    dtype: _C.dtype = field(default_factory=lambda: _C.float32)
    layout: Any = field(default_factory=lambda: rushlight.strided)
    requires_grad: bool = False
    memory_format: Any = field(default_factory=lambda: rushlight.contiguous_format)
    pin_memory: bool = False


@dataclass
class TensorStorageMetadata:
    """A saved tensor.

    Args:
        properties: its TensorProperties.
        size: its shape.
        chunks: its parts.
    """

    properties: TensorProperties
    size: _C.Size
    chunks: list[ChunkStorageMetadata]


@dataclass
class BytesStorageMetadata:
    """A saved object that is no tensor."""


@dataclass(frozen=True)
class MetadataIndex:
    """The key of a part.

    Args:
        fqn: the path in the state dictionary, joined by dots.
        offset: where the part begins; None of an object.
        index: which of the parts it is, a hint.
    """

    fqn: str
    offset: _C.Size | None = None
    index: int | None = field(hash=False, compare=False, default=None)


@dataclass
class StorageMeta:
    """Where and when it was saved.

    Args:
        checkpoint_id: the folder.
        save_id: another for each save.
        load_id: None.
        modules: none.
    """

    checkpoint_id: Any = None
    save_id: str | None = None
    load_id: str | None = None
    modules: list[str] = field(default_factory=list)


@dataclass
class Metadata:
    """All that a checkpoint has.

    Args:
        state_dict_metadata: from path to TensorStorageMetadata or BytesStorageMetadata.
        planner_data: from path, joined by dots, to its parts.
        storage_data: from MetadataIndex to the file, offset and length.
        storage_meta: a StorageMeta.
        version: of the layout.
    """

    state_dict_metadata: dict[str, Any]
    planner_data: Any = None
    storage_data: Any = None
    storage_meta: StorageMeta | None = None
    version: str | None = None


@dataclass
class _StorageInfo:
    """Where an item is; torch has it in the module filesystem, and so do files."""

    relative_path: str
    offset: int
    length: int
    transform_descriptors: Any = None
