"""Place: where a data set's archives come from and go to.

An archive is looked for in its folder, then in RUSHLIGHT_DATA_MIRROR, else at the published URL.
What the original host sends must have the published checksum. What a person put in place or into
a mirror may have another: the structure of what is in it decides, and one warning says so.
"""

import hashlib
import os
import warnings

from rushlight._download import copy_file, download

kMirror = "RUSHLIGHT_DATA_MIRROR"


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

    def fetch(self, url, filename, md5, max_redirects=10):
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
                download(url, path, max_redirects=max_redirects)
                if md5 is not None and md5_of(path) != md5:
                    os.remove(path)
                    raise RuntimeError(
                        f"File not found or corrupted.\n{url} sent another file than the published "
                        f"one (MD5 {md5}); try again, or put the right one at {path}."
                    )
            elif "://" in mirror:
                self._from_mirror(download, mirror.rstrip("/"), filename, path, md5)
            else:
                self._from_mirror(copy_file, os.path.expanduser(mirror), filename, path, md5)
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

    def unpack_tar(self, archive, folder):
        """Unpack `folder` out of a tar archive into `root`."""
        from ._archives import unpack_tar

        unpack_tar(archive, self.root, folder)
