"""torch.hub: files of weights, fetched once and kept; and models that a folder's hubconf.py makes.

Note: nothing that is fetched is run. Code comes only from a folder that the caller names; weights
are read by the reader that runs no code.
"""

import os
import re
import sys
from urllib.parse import urlparse

from rushlight._table import absent

__all__ = [
    "download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url",
    "set_dir",
]  # fmt: skip

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # the digits of a hash in the name of a file
_folder = None


def get_dir():
    """The folder that files are kept in: set_dir's, else $TORCH_HOME/hub, else ~/.cache/torch/hub.

    >>> isinstance(torch.hub.get_dir(), str)
    True
    """
    if _folder is not None:
        return _folder
    return os.path.join(_get_torch_home(), "hub")


def _get_torch_home():
    """The folder of get_dir(), as $TORCH_HOME or the default name it."""
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def __getattr__(name):
    if name == "tqdm":  # of its package, where that is installed
        from tqdm.auto import tqdm

        return tqdm
    raise AttributeError(absent(f"torch.hub.{name}"), name=name)


def set_dir(d):
    """Sets the folder of fetched files.

    Args:
        d: the folder.

    >>> before = torch.hub.get_dir()
    >>> torch.hub.set_dir(before)
    """
    global _folder
    _folder = os.path.expanduser(d)


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Fetches a file, which appears at `dst` only when it is complete and right.

    Args:
        url: http, https or file.
        dst: where the file goes.
        hash_prefix: what the SHA-256 of the file must begin with.
        progress: show on standard error how much has come.

    Raises:
        RuntimeError: for another SHA-256.
        OSError: if the file cannot be had.
    """
    from hashlib import sha256

    from rushlight._download import download

    dst = os.path.expanduser(dst)
    part = f"{dst}.{os.getpid()}.fetched"
    try:
        download(url, part, progress=progress)
        if hash_prefix is not None:
            with open(part, "rb") as file:
                digest = sha256()
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
            if not digest.hexdigest().startswith(hash_prefix):
                raise RuntimeError(
                    f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")\n'
                    f"{url} sent another file than the one of that name"
                )
        os.replace(part, dst)
    finally:
        if os.path.exists(part):
            os.remove(part)


def load_state_dict_from_url(
    url,
    model_dir=None,
    map_location=None,
    progress=True,
    check_hash=False,
    file_name=None,
    weights_only=True,
):
    """The contents of a file of weights, which is fetched unless it is there already.

    Args:
        url: its address.
        model_dir: the folder it is kept in; `checkpoints` in get_dir() by default.
        map_location: as in torch.load().
        check_hash: the name ends in -<first digits of its SHA-256>, which must be right.
        file_name: its name there; by default the one in the URL.
        weights_only: as in torch.load().

    Raises:
        RuntimeError: if it cannot be fetched; the message says where to put it by hand.
    """
    from rushlight.serialization import load as read

    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        digits = HASH_REGEX.search(name) if check_hash else None
        try:
            download_url_to_file(url, path, digits and digits.group(1), progress)
        except OSError as error:
            raise RuntimeError(
                f"cannot get {name} from {url}: {getattr(error, 'reason', error)}\n"
                f"Without network: put the file at {path}"
            ) from None
    return read(path, map_location=map_location, weights_only=weights_only)


def _entries(repo_or_dir, source):
    """The module that a folder's hubconf.py is."""
    from importlib import util

    if source != "local":
        raise NotImplementedError(
            f'torch.hub with source="{source}" is not in rushlight: it would run code from the '
            f'network\nclone {repo_or_dir} and give the folder with source="local"'
        )
    path = os.path.join(os.path.expanduser(repo_or_dir), "hubconf.py")
    if not os.path.isfile(path):
        raise FileNotFoundError(f"there is no {path}")
    spec = util.spec_from_file_location("hubconf", path)
    module = util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(path))
    try:
        spec.loader.exec_module(module)
        _check_dependencies(module, util.find_spec)
    finally:
        sys.path.remove(os.path.dirname(path))
    return module


def _check_dependencies(module, find):
    """Raises for packages that hubconf.py says it needs and that are absent."""
    missing = [name for name in getattr(module, "dependencies", None) or () if not find(name)]
    if missing:
        raise RuntimeError(
            f"Missing dependencies: {', '.join(missing)}\n"
            f"install them: {module.__spec__.origin} names them in its list `dependencies`"
        )


def _entry(module, name):
    if not isinstance(name, str):
        raise ValueError(
            "Invalid input: model should be a string of function name\n"
            f"got {type(name).__name__}; torch.hub.list() says which there are"
        )
    entry = vars(module).get(name)
    if not callable(entry):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return entry


def list(github, force_reload=False, skip_validation=False, trust_repo=None, verbose=True,
         source="github"):  # fmt: skip
    """The names of the models in the hubconf.py of a folder.

    Args:
        github: the folder.
        force_reload, skip_validation, trust_repo, verbose: are for source="github".
        source: "local".
    """
    names = vars(_entries(github, source)).items()
    return [name for name, value in names if callable(value) and not name.startswith("_")]


def help(github, model, force_reload=False, skip_validation=False, trust_repo=None,
         source="github"):  # fmt: skip
    """The docstring of a model in the hubconf.py of a folder.

    Args:
        github: the folder.
        model: the name of the function.
        force_reload, skip_validation, trust_repo: are for source="github".
        source: "local".
    """
    return _entry(_entries(github, source), model).__doc__


def load(
    repo_or_dir,
    model,
    *args,
    source="github",
    trust_repo=None,
    force_reload=False,
    verbose=True,
    skip_validation=False,
    **kwargs,
):
    """The model that a function in the hubconf.py of a folder makes.

    Args:
        repo_or_dir: the folder.
        model: the name of the function.
        *args, **kwargs: the arguments of the function.
        source: "local"; code is not fetched from the network here.
        trust_repo, force_reload, verbose, skip_validation: are for source="github".

    Raises:
        NotImplementedError: for another source.
        RuntimeError: if there is no such function.
    """
    return _entry(_entries(repo_or_dir, source), model)(*args, **kwargs)
