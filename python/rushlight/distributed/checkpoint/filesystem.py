"""FileSystemWriter and FileSystemReader: the files of a checkpoint, `__RANK_N.distcp` and
`.metadata`.

A save takes new names; `.metadata` is replaced last, in one step, and files that it does not name
are removed after that. So the folder always has one whole checkpoint, the old or the new.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import uuid

import rushlight
from rushlight._serialization.atomic import AtomicFile
from rushlight.distributed.checkpoint import _metadata_file
from rushlight.distributed.checkpoint.metadata import StorageMeta, _StorageInfo

__all__ = ["FileSystemReader", "FileSystemWriter"]


_DATA = re.compile(r"__\d+_\d+\.distcp")


class FileSystemWriter:
    """Writes a checkpoint to a folder.

    Args:
        path: the folder, which is made.
        single_file_per_rank: True.
        sync_files: accepted; files are always written through.
        thread_count: accepted, not used.
        per_thread_copy_ahead: accepted, not used.
        cache_staged_state_dict: accepted, not used.
        overwrite: whether a checkpoint that is there may be replaced.

    >>> torch.distributed.checkpoint.save(
    ...     state, storage_writer=FileSystemWriter("folder"))  # doctest: +SKIP
    """

    def __init__(
        self, path, single_file_per_rank=True, sync_files=True, thread_count=1,
        per_thread_copy_ahead=10_000_000, cache_staged_state_dict=False, overwrite=True,
    ):  # fmt: skip
        if not single_file_per_rank:
            raise NotImplementedError(
                "FileSystemWriter: single_file_per_rank=False is not in rushlight 0.1"
            )
        self.path, self.overwrite = os.fspath(path), overwrite

    @property
    def checkpoint_id(self):
        """The folder."""
        return self.path

    def _prepare(self):
        os.makedirs(self.path, exist_ok=True)
        if not self.overwrite and os.path.exists(os.path.join(self.path, ".metadata")):
            raise RuntimeError(f"Checkpoint already exists and overwrite=False: {self.path}")

    def _write(self, rank, items):
        """Writes (index, value) pairs to a new file; [(index, _StorageInfo)]."""
        if not items:
            return []
        number = 0
        while os.path.exists(os.path.join(self.path, name := f"__{rank}_{number}.distcp")):
            number += 1
        file, at, found = AtomicFile(os.path.join(self.path, name)), 0, []
        try:
            for index, value in items:
                data = io.BytesIO()
                rushlight.save(value, data)
                file.write(data.getbuffer())
                length = data.getbuffer().nbytes
                found.append((index, _StorageInfo(name, at, length)))
                at += length
        except BaseException:
            file.abandon()
            raise
        file.commit()
        return found

    def _remove(self, names):
        for name in names:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(self.path, name))

    def _finish(self, metadata):
        """Replaces `.metadata`, then removes the files of earlier saves."""
        metadata.storage_meta = StorageMeta(self.path, str(uuid.uuid4()))
        file = AtomicFile(os.path.join(self.path, ".metadata"))
        try:
            file.write(_metadata_file.data_of(metadata))
        except BaseException:
            file.abandon()
            raise
        file.commit()
        there = {name for name in os.listdir(self.path) if _DATA.fullmatch(name)}
        self._remove(there - {info.relative_path for info in metadata.storage_data.values()})


class FileSystemReader:
    """Reads a checkpoint from a folder.

    Args:
        path: the folder.

    >>> FileSystemReader("folder").read_metadata().state_dict_metadata  # doctest: +SKIP
    """

    def __init__(self, path):
        self.path = os.fspath(path)

    @property
    def checkpoint_id(self):
        """The folder."""
        return self.path

    def read_metadata(self):
        """What the checkpoint has, a Metadata.

        Raises:
            ValueError: the file is damaged.
        """
        return _metadata_file.read(os.path.join(self.path, ".metadata"))

    def _read(self, info):
        """The value of an item; files never run code."""
        path = os.path.join(self.path, info.relative_path)
        with open(path, "rb") as file:
            file.seek(info.offset)
            data = file.read(min(info.length, os.fstat(file.fileno()).st_size))
        if len(data) != info.length:
            raise ValueError(
                f"{path} is too short: {len(data)} of {info.length} bytes at {info.offset}"
            )
        return rushlight.load(io.BytesIO(data), map_location="cpu", weights_only=True)
