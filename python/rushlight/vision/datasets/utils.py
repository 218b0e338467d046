"""torchvision.datasets.utils: checksums, downloads and unpacking by hand."""

import os

from ._files import Place, md5_of


def calculate_md5(fpath, chunk_size=1 << 20):
    """The MD5 of a file, as hexadecimal text."""
    return md5_of(fpath, chunk_size)


def check_md5(fpath, md5, **kwargs):
    """Whether a file has this MD5."""
    return md5 == md5_of(fpath, **kwargs)


def check_integrity(fpath, md5=None):
    """Whether a file is there and, when `md5` is given, has it."""
    return os.path.isfile(fpath) and (md5 is None or check_md5(fpath, md5))


def download_url(url, root, filename=None, md5=None, max_redirect_hops=3):
    """Download a file into a folder, with a progress bar.

    Raises:
        RuntimeError: no network, or another MD5 than `md5`.
    """
    filename = filename or os.path.basename(url)
    path = os.path.join(os.path.expanduser(root), filename)
    if md5 is not None and os.path.isfile(path) and not check_md5(path, md5):
        os.remove(path)
    Place("", root).fetch(url, filename, md5, max_redirect_hops)


def download_file_from_google_drive(file_id, root, filename=None, md5=None):
    """`download_url` of a file that Google Drive holds, by its number there.

    Raises:
        RuntimeError: no network, or another MD5 than `md5`: Google Drive answers with a page of
            its own where a file is large. The message says where to put the file by hand.
    """
    url = f"https://drive.google.com/uc?export=download&id={file_id}"
    download_url(url, root, filename or file_id, md5)


def list_dir(root, prefix=False):
    """The names of the folders in a folder, with its path before them if `prefix`."""
    root = os.path.expanduser(root)
    names = [name for name in os.listdir(root) if os.path.isdir(os.path.join(root, name))]
    return [os.path.join(root, name) for name in names] if prefix else names


def list_files(root, suffix, prefix=False):
    """The names of the files in a folder that end in `suffix`, a str or a tuple of them, with the
    folder's path before them if `prefix`."""
    root = os.path.expanduser(root)
    names = [
        name
        for name in os.listdir(root)
        if name.endswith(suffix) and os.path.isfile(os.path.join(root, name))
    ]
    return [os.path.join(root, name) for name in names] if prefix else names


def iterable_to_str(iterable):
    """The items in quotes, with commas between them: 'a', 'b'."""
    return "'" + "', '".join(str(item) for item in iterable) + "'"


def extract_archive(from_path, to_path=None, remove_finished=False):
    """Unpack a .tar, .tar.gz, .tgz, .zip or .gz file; links and paths outside are refused.

    Raises:
        RuntimeError: a damaged or hostile archive, or an unknown ending.
    """
    from ._archives import read_gzip, unpack_tar, unpack_zip

    source = os.fspath(from_path)
    to_path = os.path.dirname(source) if to_path is None else os.fspath(to_path)
    result = to_path
    if source.endswith((".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".tbz2")):
        unpack_tar(source, to_path)
    elif source.endswith(".zip"):
        unpack_zip(source, to_path)
    elif source.endswith(".gz"):
        result = os.path.join(to_path, os.path.basename(source)[:-3])
        with open(result, "wb") as file:
            file.write(read_gzip(source))
    else:
        raise RuntimeError(
            f"Unknown compression or archive type: '{os.path.splitext(source)[1]}'.\n"
            "Known are .tar, .tar.gz, .tgz, .tar.xz, .tar.bz2, .zip and .gz."
        )
    if remove_finished:
        os.remove(source)
    return result


def download_and_extract_archive(
    url, download_root, extract_root=None, filename=None, md5=None, remove_finished=False
):
    """`download_url`, then `extract_archive`."""
    filename = filename or os.path.basename(url)
    download_url(url, download_root, filename, md5)
    archive = os.path.join(os.path.expanduser(download_root), filename)
    extract_archive(archive, extract_root or download_root, remove_finished)


def verify_str_arg(value, arg=None, valid_values=None, custom_msg=None):
    """`value`, if it is a str among `valid_values`; else ValueError."""
    if not isinstance(value, str):
        of = f" for argument {arg}" if arg is not None else ""
        raise ValueError(f"Expected type str{of}, but got type {type(value)}.")
    if valid_values is not None and value not in valid_values:
        known = "', '".join(str(item) for item in valid_values)
        raise ValueError(
            custom_msg
            or f"Unknown value '{value}' for argument {arg}. Valid values are {{'{known}'}}."
        )
    return value
