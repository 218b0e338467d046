"""Unpacking of archives that may be hostile: plain files and folders only, inside the target,
within a size, and put in place only when all of it is there.
"""

import gzip
import os
import shutil
import tarfile
import zipfile
import zlib

kMaxUnpacked = 16 << 30
kMaxMembers = 2_000_000


class ArchiveError(RuntimeError):
    """An archive that is damaged, or that has something besides plain files."""


def _safe_parts(name, archive):
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    if ".." in parts or name.startswith(("/", "\\")) or ":" in name.split("/")[0] or "\0" in name:
        raise ArchiveError(
            f"{archive} was not unpacked: its member {name!r} would land outside the folder"
        )
    return parts


class _Writer:
    """Writes members below a folder and counts their bytes."""

    def __init__(self, archive, folder, limit):
        self.archive, self.folder, self.left = archive, folder, limit
        self.members = 0

    def count(self):
        self.members += 1
        if self.members > kMaxMembers:
            raise ArchiveError(f"{self.archive} was not unpacked: too many members")

    def write(self, source, parts):
        if not parts:
            raise ArchiveError(f"{self.archive} was not unpacked: a member without a name")
        path = os.path.join(self.folder, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            while chunk := source.read(1 << 20):
                self.left -= len(chunk)
                if self.left < 0:
                    raise ArchiveError(
                        f"{self.archive} was not unpacked: it unfolds to more than is allowed"
                    )
                file.write(chunk)


def unpack_tar(archive, root, folder=None, limit=kMaxUnpacked):
    """Unpack a tar file, compressed or not.

    Args:
        archive: the file.
        root: where its members go.
        folder: only members below this folder, which replaces the one in `root`; all if None.
        limit: bytes that it may unfold to.

    Raises:
        ArchiveError: damaged, a link or device, a path that leads outside, or too large.
    """
    with _staged(archive, root, folder) as (writer, target):
        writer.left = limit
        try:
            with tarfile.open(archive, "r:*") as tar:
                for member in tar:
                    writer.count()
                    parts = _safe_parts(member.name, archive)
                    if member.isdir():
                        continue
                    if not member.isreg():
                        raise ArchiveError(
                            f"{archive} was not unpacked: its member {member.name!r} is a link or "
                            "device"
                        )
                    if folder is None or parts[0] == folder:
                        writer.write(tar.extractfile(member), parts)
        except (tarfile.TarError, EOFError, OSError, zlib.error, ValueError) as error:
            raise ArchiveError(
                f"{archive} is damaged or no tar file ({error}): delete it to fetch it again"
            ) from None
        target.ready = True


def unpack_zip(archive, root, limit=kMaxUnpacked):
    """Unpack a zip file; arguments and errors as `unpack_tar`."""
    with _staged(archive, root, None) as (writer, target):
        writer.left = limit
        try:
            with zipfile.ZipFile(archive) as zipped:
                for member in zipped.infolist():
                    writer.count()
                    parts = _safe_parts(member.filename, archive)
                    kind = member.external_attr >> 28
                    if member.is_dir():
                        continue
                    if kind not in (0, 8):  # a file, or made where there are no kinds
                        raise ArchiveError(
                            f"{archive} was not unpacked: its member {member.filename!r} is a link "
                            "or device"
                        )
                    with zipped.open(member) as source:
                        writer.write(source, parts)
        except (zipfile.BadZipFile, EOFError, OSError, zlib.error, ValueError) as error:
            raise ArchiveError(f"{archive} is damaged or no zip file: {error}") from None
        except (RuntimeError, NotImplementedError) as error:
            if isinstance(error, ArchiveError):
                raise
            raise ArchiveError(f"{archive} cannot be unpacked: {error}") from None
        target.ready = True


def read_gzip(path, limit=kMaxUnpacked):
    """The contents of a gzip file, at most `limit` bytes."""
    try:
        with gzip.open(path) as file:
            data = file.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ArchiveError(f"{path} is damaged or no gzip file: {error}") from None
    if len(data) > limit:
        raise ArchiveError(f"{path} unfolds to more than {limit} bytes")
    return data


class _staged:
    """A folder beside the target; what is in it moves there when `ready` was set."""

    def __init__(self, archive, root, folder):
        self.root, self.folder = os.path.expanduser(root), folder
        self.stage = os.path.join(self.root, f".unpacking-{os.getpid()}")
        self.writer = _Writer(archive, self.stage, kMaxUnpacked)
        self.ready = False

    def __enter__(self):
        shutil.rmtree(self.stage, ignore_errors=True)
        os.makedirs(self.stage)
        return self.writer, self

    def __exit__(self, *_):
        try:
            if self.ready:
                self._move()
        finally:
            shutil.rmtree(self.stage, ignore_errors=True)

    def _move(self):
        for base, _, names in os.walk(self.stage):
            target = os.path.join(self.root, os.path.relpath(base, self.stage))
            os.makedirs(target, exist_ok=True)
            for name in names:
                os.replace(os.path.join(base, name), os.path.join(target, name))
