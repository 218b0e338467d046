"""absent: what the error of a name says that torch has and rushlight does not."""

from ._version import __version__

SHORT_VERSION = ".".join(__version__.split(".")[:2])


def absent(name: str) -> str:
    return f"{name} is not in rushlight {SHORT_VERSION}"
