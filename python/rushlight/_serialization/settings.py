"""The settings of torch.serialization, and what of a file's names is not allowed.

Note: a setting that would change what is written or read here, and does not, is refused.
"""

import enum
import mmap
import warnings
from _thread import _local

_settings = {"endianness": None, "crc32": True}
_this_thread = _local()


class SourceChangeWarning(Warning):
    """What older files gave a warning of, when a class had changed since."""


class LoadEndianness(enum.Enum):
    """The byte order of a file that does not say its own."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


def get_default_load_endianness():
    """Returns the byte order of files that do not say theirs; None is the machine's."""
    return _settings["endianness"]


def set_default_load_endianness(endianness):
    """Sets the byte order of files that do not say theirs.

    Args:
        endianness: a :class:`LoadEndianness`, or None.

    Raises:
        NotImplementedError: of LoadEndianness.BIG.
    """
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError(
            "Invalid argument type in function set_default_load_endianness: "
            f"{type(endianness).__name__} is no LoadEndianness"
        )
    if endianness is LoadEndianness.BIG:
        raise NotImplementedError(
            "set_default_load_endianness(): a file that does not say its byte order is read as "
            "little-endian; save it again where it was written"
        )
    _settings["endianness"] = endianness


def get_crc32_options():
    """Returns what :func:`set_crc32_options` has set; True before."""
    return _settings["crc32"]


def set_crc32_options(compute_crc32):
    """Lets files be written without check sums; they are written with them all the same.

    Args:
        compute_crc32: whether check sums are wanted.
    """
    _settings["crc32"] = compute_crc32


def get_default_mmap_options():
    """Returns ``mmap.MAP_PRIVATE``: what is written to a loaded tensor never reaches the file."""
    return int(mmap.MAP_PRIVATE)


class set_default_mmap_options:
    """Sets how ``load(mmap=True)`` maps a file, for a ``with`` block or until the next call.

    Args:
        flags: ``mmap.MAP_PRIVATE``.

    Raises:
        ValueError: of other flags than torch takes.
        NotImplementedError: of ``mmap.MAP_SHARED``.
    """

    def __init__(self, flags):
        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE "
                f"or mmap.MAP_SHARED, but got {flags}"
            )
        if flags == mmap.MAP_SHARED:
            raise NotImplementedError(
                "set_default_mmap_options(): writes to loaded tensors do not reach the file; use "
                "torch.from_file(shared=True), or save again"
            )

    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass


class skip_data:
    """In a ``with`` block, files are saved with room for the tensors' elements, which are zeros.

    Args:
        materialize_fake_tensors: accepted; there are no fake tensors.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> with torch.serialization.skip_data():
        ...     torch.save(torch.ones(2), file)
        >>> torch.load(io.BytesIO(file.getvalue()))
        tensor([0., 0.])
    """

    def __init__(self, materialize_fake_tensors=False):
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self):
        self._before, _this_thread.skips = skips_data(), True

    def __exit__(self, *_):
        _this_thread.skips = self._before


def skips_data():
    """Whether the elements of tensors are left out of files."""
    return getattr(_this_thread, "skips", False)


def check_module_version_greater_or_equal(module, req_version_tuple, error_if_malformed=True):
    """Whether a module's ``__version__`` is at least another one.

    Args:
        module: what has a ``__version__``.
        req_version_tuple: the version, (major, minor, ...).
        error_if_malformed: whether a version that cannot be compared is an error; else a warning.
    """
    try:
        parts = module.__version__.split(".")
        version = tuple(type(part)(parts[i]) for i, part in enumerate(req_version_tuple))
        return version >= req_version_tuple
    except Exception as error:
        message = (
            f"'{module.__name__}' module version string is malformed '{module.__version__}' and "
            f"cannot be compared with tuple {req_version_tuple}"
        )
        if error_if_malformed:
            raise RuntimeError(message) from error
        warnings.warn(message + ", but continuing assuming that requirement is met", stacklevel=2)
        return True


_STRINGS = frozenset(
    "STRING BINSTRING SHORT_BINSTRING UNICODE BINUNICODE BINUNICODE8 SHORT_BINUNICODE".split()
)


def _globals_of(pickled):
    """The (module, name) of a pickle's instructions; nothing is imported or called."""
    import pickletools

    found, pushed, memo = set(), [None, None], {}
    for instruction, value, _ in pickletools.genops(pickled):
        name = instruction.name
        if name in ("GLOBAL", "INST"):
            found.add(tuple(value.split(" ", 1)))
        elif name == "STACK_GLOBAL":
            if not all(isinstance(part, str) for part in pushed[-2:]):
                raise ValueError(
                    "get_unsafe_globals_in_checkpoint(): the file makes up a name as it is loaded"
                )
            found.add(tuple(pushed[-2:]))
        if name in ("MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT"):
            memo[len(memo) if name == "MEMOIZE" else value] = pushed[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            pushed.append(memo.get(value))
        else:
            pushed.append(value if name in _STRINGS else None)
        del pushed[:-2]
    return found


def get_unsafe_globals_in_checkpoint(f):
    """Returns the names in a file of save() that ``weights_only`` does not allow.

    The file is read, not loaded: nothing that it names is imported.

    Args:
        f: a path, or a file that is open for reading bytes.

    Raises:
        ValueError: if the file is not one that save() has written.
    """
    from rushlight._serialization.allowlist import Allowed, Refused
    from rushlight._serialization.zip_reader import ZipReader

    def unsafe(file):
        start = file.tell()
        head = file.read(4)
        file.seek(start)
        if head != b"PK\3\4":
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        archive = ZipReader(file)
        if "constants.pkl" in archive:
            raise ValueError(
                "Expected input to be a checkpoint returned by torch.save but got a torchscript "
                "checkpoint"
            )
        allowed, refused = Allowed(), []
        for module, name in sorted(_globals_of(archive.read("data.pkl"))):
            try:
                allowed.find(module, name)
            except Refused:
                refused.append(f"{module}.{name}")
        return refused

    if hasattr(f, "read"):
        return unsafe(f)
    with open(f, "rb") as file:
        return unsafe(file)
