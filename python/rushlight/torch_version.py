"""The type of `torch.__version__`: a string that compares as a version."""

from rushlight._version import __version__ as _version

__all__ = ["TorchVersion"]

_PATTERN = (
    r"v?(?:(\d+)!)?(\d+(?:\.\d+)*)"  # epoch, release
    r"(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\d*))?"
    r"(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d*))?"
    r"(?:[-_.]?(dev)[-_.]?(\d*))?"
    r"(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?"
)
_FIRST, _LAST = (-1,), (2,)  # before and after every number
_STAGES = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}


def _key(text):
    """What orders versions (PEP 440); None for what is none."""
    import re  # here, as importing rushlight must stay cheap

    match = re.fullmatch(_PATTERN, text.strip().lower(), re.ASCII) if len(text) < 256 else None
    if match is None:
        return None
    epoch, release, stage, of_stage, short, post, of_post, dev, of_dev, local = match.groups("")
    numbers = [int(n) for n in release.split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    is_post = bool(post or short)
    unfinished = _FIRST if dev and not is_post else _LAST
    return (
        int(epoch or 0),
        numbers,
        (1, _STAGES.get(stage, stage), int(of_stage or 0)) if stage else unfinished,
        (1, int(short or of_post or 0)) if is_post else _FIRST,
        (1, int(of_dev or 0)) if dev else _LAST,
        [(1, int(p), "") if p.isdigit() else (0, 0, p) for p in re.split("[-_.]", local) if p],
    )


def _compared(name):
    of_strings = getattr(str, name)

    def compare(self, other):
        text = ".".join(map(str, other)) if isinstance(other, (tuple, list)) else other
        if not isinstance(text, str):
            return NotImplemented
        mine, theirs = _key(self), _key(text)
        if mine is None or theirs is None:
            return of_strings(self, text)
        return getattr(mine, name)(theirs)

    compare.__name__ = name
    return compare


class TorchVersion(str):
    """A string that compares with strings and tuples as a version (PEP 440), and with what is no
    version as a string.

    >>> torch.torch_version.TorchVersion("2.13.0") > "2.9"
    True
    >>> torch.torch_version.TorchVersion("2.13.0") >= (2, 13)
    True
    """

    __slots__ = ()
    __hash__ = str.__hash__
    __lt__, __le__, __gt__, __ge__, __eq__ = map(
        _compared, ("__lt__", "__le__", "__gt__", "__ge__", "__eq__")
    )


__version__ = TorchVersion(_version)
