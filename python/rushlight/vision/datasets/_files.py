"""Place: where a data set's archives come from and go to.

An archive is looked for in its folder, then in RUSHLIGHT_DATA_MIRROR, else at the published URL.
What the original host sends must have the published checksum. What a person put in place or into
a mirror may have another: the structure of what is in it decides, and one warning says so.
"""

import hashlib
import os
import sys
import time
import warnings

kMirror = "RUSHLIGHT_DATA_MIRROR"
kMaxDownload = 64 << 30
kTimeoutSeconds = 30


def md5_of(path, chunk_size=1 << 20):
    """The MD5 of a file, as hexadecimal text."""
    digest = hashlib.md5(usedforsecurity=False)
    with open(path, "rb") as file:
        while chunk := file.read(chunk_size):
            digest.update(chunk)
    return digest.hexdigest()


def warn_of_checksum(name, paths):
    """Warn once that files are used although their checksum is not the published one."""
    warnings.warn(
        f"{name}: {', '.join(paths)}: the checksum is not the published one. The structure is "
        "right, so the data is used; it is not the published data.",
        stacklevel=4,
    )


class Place:
    """The folder of one data set and the mirror's folder for it.

    Args:
        name: the data set's name; a mirror may have a folder of this name.
        root: folder that archives are kept in.
        shares_names: other sets have archives of the same names, so one that lies outside the
            mirror's folder `name` must have the published checksum.
    """

    def __init__(self, name, root, shares_names=False):
        self.name = name
        self.root = os.path.expanduser(root)
        self.shares_names = shares_names

    def fetch(self, url, filename, md5):
        """The path of an archive in `root`, fetched if it is not there.

        Raises:
            RuntimeError: it cannot be had; the message says where to put it by hand.
        """
        path = os.path.join(self.root, filename)
        os.makedirs(self.root, exist_ok=True)
        if os.path.isfile(path):
            return path
        mirror = os.environ.get(kMirror)
        try:
            if not mirror:
                self._download(url, path)
                if md5 is not None and md5_of(path) != md5:
                    os.remove(path)
                    raise RuntimeError(
                        f"File not found or corrupted.\n{url} sent another file than the published "
                        f"one (MD5 {md5}); try again, or put the right one at {path}."
                    )
            elif "://" in mirror:
                self._from_mirror(self._download, mirror.rstrip("/"), filename, path, md5)
            else:
                self._from_mirror(_copy_file, os.path.expanduser(mirror), filename, path, md5)
        except (OSError, ValueError) as error:
            source = f"{kMirror}={mirror}" if mirror else url
            raise RuntimeError(
                f"cannot get {filename} from {source}: {getattr(error, 'reason', error)}\n"
                f"Without network: put the archive at {path}"
                f"{f' (MD5 {md5})' if md5 else ''}, or set {kMirror} to a folder or URL that holds "
                f"{filename} or {self.name}/{filename}."
            ) from None
        return path

    def _from_mirror(self, get, mirror, filename, path, md5):
        try:
            get(f"{mirror}/{self.name}/{filename}", path)
            return
        except OSError:
            get(f"{mirror}/{filename}", path)
        if self.shares_names and md5_of(path) != md5:
            os.remove(path)
            raise OSError(
                f"{filename} there is another data set's; put this one's at {self.name}/{filename}"
            )

    @staticmethod
    def _download(url, path):
        import urllib.request

        if url.split(":", 1)[0].lower() not in ("http", "https", "file"):
            raise OSError(f"{url} is no http, https or file URL")
        request = urllib.request.Request(url, headers={"User-Agent": "rushlight"})
        with urllib.request.urlopen(request, timeout=kTimeoutSeconds) as response:
            size = response.headers.get("Content-Length")
            _copy(response, path, int(size) if size is not None else None)

    def unpack_tar(self, archive, folder):
        """Unpack `folder` out of a tar archive into `root`."""
        from ._archives import unpack_tar

        unpack_tar(archive, self.root, folder)


def _copy_file(source, path):
    with open(source, "rb") as file:
        _copy(file, path, os.path.getsize(source))


def _copy(source, path, size):
    """Copy a stream to a file that appears only when it is complete."""
    part = f"{path}.part{os.getpid()}"
    bar = Progress(os.path.basename(path), size)
    done = 0
    try:
        with open(part, "wb") as file:
            while chunk := source.read(1 << 16):
                done += len(chunk)
                if done > kMaxDownload:
                    raise OSError(f"more than {kMaxDownload >> 30} GiB came")
                file.write(chunk)
                bar.update(len(chunk))
        if size is not None and done != size:
            raise OSError(f"{done} of {size} bytes came")
        os.replace(part, path)
    finally:
        bar.close()
        if os.path.exists(part):
            os.remove(part)


class Progress:
    """A line on standard error that says how much of a download has come.

    Args:
        name: what is downloaded.
        total: its bytes; None when not known.
    """

    def __init__(self, name, total):
        self.name, self.total = name, total
        self.done = 0
        self.begin = time.monotonic()
        self.shown = None

    def update(self, count):
        """`count` more bytes have come."""
        self.done += count
        now = time.monotonic()
        if self.shown is None or now - self.shown > 0.2:
            self.shown = now
            self._show("\r")

    def close(self):
        """Show the last state and leave the line."""
        self._show("\n")

    def _show(self, end):
        if sys.stderr is None:
            return
        speed = self.done / max(time.monotonic() - self.begin, 1e-3) / 1e6
        if self.total:
            filled = round(30 * self.done / self.total)
            bar = f"{self.done / self.total:4.0%} |{'#' * filled:<30}| "
            size = f"{self.done / 1e6:.1f}/{self.total / 1e6:.1f} MB"
        else:
            bar, size = "", f"{self.done / 1e6:.1f} MB"
        lead = "\r" if end == "\n" and sys.stderr.isatty() else ""
        if end == "\n" or sys.stderr.isatty():
            sys.stderr.write(f"{lead}{self.name}: {bar}{size}, {speed:.1f} MB/s{end}")
            sys.stderr.flush()
