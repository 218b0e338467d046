"""Files that are fetched: they appear only when complete, with a line on standard error."""

import os
import sys
import time

kMaxDownload = 64 << 30
kTimeoutSeconds = 30


def download(url, path, *, progress=True, max_redirects=10):
    """Fetches an http, https or file URL into a file."""
    import urllib.request

    if url.split(":", 1)[0].lower() not in ("http", "https", "file"):
        raise OSError(f"{url} is no http, https or file URL")
    request = urllib.request.Request(url, headers={"User-Agent": "rushlight"})
    redirects = urllib.request.HTTPRedirectHandler()
    redirects.max_redirections = max_redirects
    opener = urllib.request.build_opener(redirects)
    with opener.open(request, timeout=kTimeoutSeconds) as response:
        size = response.headers.get("Content-Length")
        _copy(response, path, int(size) if size is not None else None, progress)


def copy_file(source, path):
    """Copies a file, or what is mounted as one."""
    with open(source, "rb") as file:
        _copy(file, path, os.path.getsize(source))


def _copy(source, path, size, progress=True):
    """Copy a stream to a file that appears only when it is complete."""
    part = f"{path}.part{os.getpid()}"
    bar = Progress(os.path.basename(path), size) if progress else None
    done = 0
    try:
        with open(part, "wb") as file:
            while chunk := source.read(1 << 16):
                done += len(chunk)
                if done > kMaxDownload:
                    raise OSError(f"more than {kMaxDownload >> 30} GiB came")
                if size is not None and done > size:
                    raise OSError(f"more than the {size} bytes came that were announced")
                file.write(chunk)
                if bar:
                    bar.update(len(chunk))
        if size is not None and done != size:
            raise OSError(f"{done} of {size} bytes came")
        os.replace(part, path)
    finally:
        if bar:
            bar.close()
        if os.path.exists(part):
            os.remove(part)


class Progress:
    """A line on standard error with the progress of a download.

    Args:
        name: what is downloaded.
        total: its bytes; None if unknown.
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
