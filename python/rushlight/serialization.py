"""Saving and loading: `save`, `load`, and the list of what a file may name.

Note: under `weights_only` (the default) a file's pickle is run by our own machine in
`_serialization.unpickler`, and there is no way from there to the standard library's unpickler.
"""

import os
from collections.abc import Callable
from typing import TypeAlias

from rushlight import _C
from rushlight._serialization.devices import refuse_devices
from rushlight._serialization.location import (
    default_restore_location,
    location_tag,
    register_package,
    validate_cuda_device,
)
from rushlight._serialization.settings import (
    LoadEndianness,
    SourceChangeWarning,
    check_module_version_greater_or_equal,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    get_unsafe_globals_in_checkpoint,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
    skip_data,
)
from rushlight._utils import _get_layout as _get_layout  # which files name here

__all__ = [
    "LoadEndianness",
    "SourceChangeWarning",
    "add_safe_globals",
    "check_module_version_greater_or_equal",
    "clear_safe_globals",
    "default_restore_location",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "location_tag",
    "register_package",
    "safe_globals",
    "save",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
    "validate_cuda_device",
]

DEFAULT_PROTOCOL = 2
MAP_LOCATION: TypeAlias = Callable | _C.device | str | dict[str, str] | None
_UNSAFE = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` "
    "from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will "
    "likely succeed, but it can result in arbitrary code execution. Do it only if you got the "
    "file from a trusted source."
)


def add_safe_globals(safe_globals):
    """Lets files name these classes and functions when they are loaded with ``weights_only``.

    Args:
        safe_globals: a list of classes and functions, or of pairs (thing, its path in files).

    Example:
        >>> from fractions import Fraction
        >>> torch.serialization.add_safe_globals([Fraction])
        >>> torch.serialization.get_safe_globals()
        [<class 'fractions.Fraction'>]
        >>> torch.serialization.clear_safe_globals()
    """
    from rushlight._serialization import allowlist

    allowlist.add(safe_globals)


def get_safe_globals():
    """Returns what :func:`add_safe_globals` has added."""
    from rushlight._serialization.allowlist import user_globals
    from rushlight._serialization.names import torch_path

    return [
        thing
        if getattr(thing, "__qualname__", None) and torch_path(thing) == path
        else (thing, path)
        for path, thing in user_globals.items()
    ]


def clear_safe_globals():
    """Forgets what :func:`add_safe_globals` has added."""
    from rushlight._serialization.allowlist import user_globals

    user_globals.clear()


class safe_globals:
    """Adds to the list of what files may name inside a ``with`` block.

    Args:
        safe_globals: as for :func:`add_safe_globals`.

    Example:
        >>> import fractions, io
        >>> file = io.BytesIO()
        >>> torch.save(fractions.Fraction(1, 3), file)
        >>> with torch.serialization.safe_globals([fractions.Fraction]):
        ...     torch.load(io.BytesIO(file.getvalue()))
        Fraction(1, 3)
    """

    def __init__(self, safe_globals):
        self._given = safe_globals

    def __enter__(self):
        from rushlight._serialization import allowlist

        before = set(allowlist.user_globals)
        self._added = [path for path in allowlist.add(self._given) if path not in before]

    def __exit__(self, *_):
        from rushlight._serialization.allowlist import user_globals

        for path in self._added:
            user_globals.pop(path, None)


def _is_path(f):
    return isinstance(f, str | os.PathLike)


def _archive_name(path):
    stem = os.path.splitext(os.path.basename(path))[0]
    return stem if stem.isascii() and stem.strip(".") else "archive"


def save(
    obj,
    f,
    pickle_module=None,
    pickle_protocol=DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization=True,
    _disable_byteorder_record=False,
):
    """Saves an object to a file in PyTorch's format, which PyTorch loads as well.

    Tensors that share memory share it again after loading. A file that exists is replaced at the
    end, in one step: whatever interrupts the saving, the old or the new file is there, whole.

    Args:
        obj: anything that pickle takes, with tensors and modules anywhere in it.
        f: a path, or an object with a ``write`` method.
        pickle_module: the module that pickles; the standard ``pickle`` unless given.
        pickle_protocol: the version of pickle's format.
        _use_new_zipfile_serialization: False writes the format before PyTorch 1.6.

    Raises:
        RuntimeError: when the folder of ``f`` does not exist, or when two tensors read the same
            memory as different dtypes.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.save({"weight": torch.ones(2)}, file)
        >>> torch.load(io.BytesIO(file.getvalue()))
        {'weight': tensor([1., 1.])}
    """
    import pickle

    if pickle_module is None:
        pickle_module = pickle
    if not _is_path(f):
        if not callable(getattr(f, "write", None)):
            raise AttributeError(
                "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
                f"\nsave() got {type(f).__name__}; the object comes first, then the file"
            )
        if _use_new_zipfile_serialization:
            from rushlight._serialization.archive import write_archive

            byteorder = not _disable_byteorder_record
            write_archive(obj, f.write, "archive", pickle_module, pickle_protocol, byteorder)
        else:
            from rushlight._serialization.legacy import write_legacy

            write_legacy(obj, f, pickle_module, pickle_protocol)
        if hasattr(f, "flush"):
            f.flush()
        return

    from rushlight._serialization.atomic import AtomicFile

    path = os.fspath(f)
    file = AtomicFile(path)
    try:
        if _use_new_zipfile_serialization:
            from rushlight._serialization.archive import write_archive

            name, byteorder = _archive_name(os.fsdecode(path)), not _disable_byteorder_record
            write_archive(
                obj, file.write, name, pickle_module, pickle_protocol, byteorder, file.reserve
            )
        else:
            from rushlight._serialization.legacy import write_legacy

            write_legacy(obj, file, pickle_module, pickle_protocol)
    except BaseException:
        file.abandon()
        raise
    file.commit()


def load(
    f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args
):
    """Loads an object that :func:`save`, or PyTorch's, has written.

    Args:
        f: a path, or a file object that can ``read`` and ``seek``.
        map_location: where tensors go: a device or its name for all of them; a dict from the
            devices in the file to others; a function of (storage, name of its device) that
            returns the storage to use, or None. Without it, the devices that the file names.
        pickle_module: the module that unpickles, with ``weights_only=False`` only.
        weights_only: True, the default, loads tensors, scalars, text and containers, never
            code. False also loads whole modules and other objects, **and runs whatever code the
            file contains**: only for files that you trust.
        mmap: accepted; the file is read at once all the same.
        pickle_load_args: ``encoding``, for byte strings that Python 2 wrote.

    Raises:
        UnpicklingError: when the file holds more than ``weights_only`` allows; it names the
            culprit and the cure.
        RuntimeError: when the file is damaged, or a device in it is absent here.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.save([torch.zeros(1, 2), "text"], file)
        >>> torch.load(io.BytesIO(file.getvalue()), map_location="cpu", weights_only=True)
        [tensor([[0., 0.]]), 'text']
    """
    weights_only = _choose(weights_only, pickle_module)
    if mmap and not _is_path(f):
        raise ValueError(
            "f must be a string or os.PathLike object in order to use mmap argument\n"
            f"load() got {type(f).__name__}"
        )
    if _is_path(f):
        with open(f, "rb", buffering=0) as file:
            return _load(file, f, map_location, pickle_module, weights_only, pickle_load_args)
    _check_seekable(f)
    return _load(f, None, map_location, pickle_module, weights_only, pickle_load_args)


def _choose(weights_only, pickle_module):
    """Whether to load with `weights_only`: the argument, then the environment, then True."""
    force = os.environ.get("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "0").lower() in _YES
    force_no = os.environ.get("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "0").lower() in _YES
    if force and force_no:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` "
            "should be set, but both were set."
        )
    if force:
        weights_only = True
    elif weights_only is None and force_no:
        from warnings import warn

        warn(
            "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the"
            "`weights_only` argument was not explicitly passed to `torch.load`, forcing "
            "weights_only=False.",
            UserWarning,
            stacklevel=3,
        )
        weights_only = False
    elif weights_only is None:
        weights_only = pickle_module is None
    if weights_only and pickle_module is not None:
        raise RuntimeError(
            "Can not safely load weights when explicit pickle_module is specified\n"
            "leave pickle_module out, or pass weights_only=False for a file that you trust"
        )
    return bool(weights_only)


_YES = ("1", "y", "yes", "true")


def _check_seekable(f):
    try:
        f.seek(f.tell())
    except (OSError, AttributeError) as error:
        if "seek" not in str(error) and "tell" not in str(error):
            raise
        raise type(error)(
            f"{error}. You can only torch.load from a file that is seekable. Please pre-load the "
            "data into a buffer like io.BytesIO and try to load from it instead."
        ) from None


def _load(file, path, map_location, pickle_module, weights_only, pickle_load_args):
    refuse_devices(file)
    start = file.tell()
    head = file.read(4)
    file.seek(start)
    if not head:
        raise EOFError("Ran out of input\nthe file is empty")
    try:
        if head == b"PK\3\4":
            return _load_archive(file, map_location, pickle_module, weights_only, pickle_load_args)
        if path is not None and os.fspath(path).endswith(".safetensors"):
            raise RuntimeError("safetensors files are not read by rushlight 0.1")
        return _load_legacy(file, map_location, pickle_module, weights_only, pickle_load_args)
    except _refused() as error:
        from _pickle import UnpicklingError

        raise UnpicklingError(_advice(str(error), weights_only)) from None


def _refused():
    from rushlight._serialization.allowlist import Refused

    return Refused


def _load_archive(file, map_location, pickle_module, weights_only, pickle_load_args):
    from rushlight._serialization.archive import read_archive
    from rushlight._serialization.zip_reader import ZipReader

    archive = ZipReader(file)
    if "constants.pkl" in archive:
        raise RuntimeError(
            "the file is a TorchScript archive: torch.jit is not in rushlight 0.1\n"
            "save the module's state_dict() with torch.save instead"
        )

    def unpickle(data, persistent_load):
        if weights_only:
            from rushlight._serialization.unpickler import Unpickler

            encoding = pickle_load_args.get("encoding", "utf-8")
            return Unpickler(data, encoding, persistent_load).load()
        from io import BytesIO

        from rushlight._serialization.standard_unpickler import make_unpickler

        text = BytesIO(data)
        return make_unpickler(pickle_module, text, persistent_load, pickle_load_args).load()

    return read_archive(archive, map_location, unpickle)


def _load_legacy(file, map_location, pickle_module, weights_only, pickle_load_args):
    from rushlight._serialization.legacy import read_legacy

    if weights_only:
        from rushlight._serialization.unpickler import Unpickler

        start = file.tell()
        encoding = pickle_load_args.get("encoding", "utf-8")
        machine = Unpickler(file.read(), encoding)

        def next_pickle(persistent_load):
            machine._persistent_load = persistent_load
            result = machine.load()
            file.seek(start + machine.position)
            return result
    else:
        from io import BufferedReader, RawIOBase

        from rushlight._serialization.standard_unpickler import make_unpickler

        if isinstance(file, RawIOBase):
            file = BufferedReader(file)

        def next_pickle(persistent_load):
            return make_unpickler(pickle_module, file, persistent_load, pickle_load_args).load()

    return read_legacy(file, map_location, next_pickle)


def _advice(message, weights_only):
    if not weights_only:
        return message
    if "was not an allowed global by default" in message:
        return (
            "Weights only load failed. This file can still be loaded, to do so you have two "
            "options, \033[1mdo those steps only if you trust the source of the checkpoint\033[0m."
            f" \n\t(1) {_UNSAFE}\n\t(2) Alternatively, to load with `weights_only=True` please "
            "check the recommended steps in the following error message.\n\tWeightsUnpickler "
            f"error: {message}"
        )
    return f"Weights only load failed. {_UNSAFE}\n\nWeightsUnpickler error: {message}"
