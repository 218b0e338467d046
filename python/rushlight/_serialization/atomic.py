"""Replaces a file by a complete new one, or leaves it as it was.

Note: the new file is written beside the old one under a name of its own, and a lock is held on it
meanwhile; that is how the left-over of a killed process is told from a file that another process is
writing now.
"""

import contextlib
import errno
import os
import stat

_MARK = ".rushlight-saving-"


class AtomicFile:
    """A file being written; ``commit`` replaces ``path`` by it, ``abandon`` removes it.

    Devices, pipes and sockets are written to directly.
    """

    def __init__(self, path):
        self._target = os.path.realpath(path)
        self._reserved = self._written = 0
        folder, name = os.path.split(self._target)
        if not os.path.isdir(folder):
            raise RuntimeError(
                f"Parent directory {os.path.dirname(os.fsdecode(path)) or folder} does not exist.\n"
                "create it first, for example with os.makedirs(folder, exist_ok=True)"
            )
        try:
            before = os.stat(self._target)
        except FileNotFoundError:
            before = None
        if before is not None and stat.S_ISDIR(before.st_mode):
            raise IsADirectoryError(21, "Is a directory", os.fspath(path))
        if before is not None and not stat.S_ISREG(before.st_mode):
            self._temporary = None
            self.fileno = os.open(self._target, os.O_WRONLY)
            return
        prefix = "." + name[:100] + _MARK
        _remove_left_overs(folder, prefix)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        while True:
            self._temporary = os.path.join(folder, f"{prefix}{os.getpid()}-{os.urandom(4).hex()}")
            self.fileno = os.open(self._temporary, flags, 0o666)
            _lock(self.fileno, wait=True)
            if os.fstat(self.fileno).st_nlink:
                break
            os.close(self.fileno)  # another process took it for a left-over before it was locked
        if before is not None:
            self._copy_permissions(before)

    def _copy_permissions(self, before):
        new = os.fstat(self.fileno)
        if (new.st_uid, new.st_gid) != (before.st_uid, before.st_gid):
            with contextlib.suppress(OSError):  # only root may give files away
                os.fchown(self.fileno, before.st_uid, before.st_gid)
        os.fchmod(self.fileno, stat.S_IMODE(before.st_mode))

    def reserve(self, length):
        """Reserves the space at once: less work per write, no half-full disk."""
        if self._temporary is None or not length or not hasattr(os, "posix_fallocate"):
            return
        try:
            os.posix_fallocate(self.fileno, 0, length)
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise
        self._reserved = length

    def write(self, data):
        """Writes all of ``data``."""
        view = memoryview(data)
        while len(view):
            count = os.write(self.fileno, view[: 1 << 30])
            self._written += count
            view = view[count:]

    def commit(self):
        """Makes the new file durable and replaces the old one by it."""
        if self._temporary is None:
            os.close(self.fileno)
            return
        try:
            if self._reserved > self._written:
                os.ftruncate(self.fileno, self._written)
            os.fsync(self.fileno)
            os.replace(self._temporary, self._target)
        except BaseException:
            self.abandon()
            raise
        os.close(self.fileno)

    def abandon(self):
        """Removes the unfinished file; the old one stays."""
        os.close(self.fileno)
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._temporary)


def _lock(fileno, wait=False):
    """True when this process now holds the file's lock."""
    try:
        import fcntl

        fcntl.flock(fileno, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _remove_left_overs(folder, prefix):
    """Removes unfinished files of processes that were killed while they saved this same file."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if entry.name.startswith(prefix)]
    for name in names:
        path = os.path.join(folder, name)
        try:
            fileno = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        except OSError:
            continue
        try:
            if _lock(fileno):
                os.unlink(path)
        except OSError:
            pass
        finally:
            os.close(fileno)
