"""warn_once: warnings that come once in a process, as torch says what is deprecated."""

import warnings

from rushlight import _C

_said: set[str] = set()


def warn_once(words):
    """Warns the caller of an operation, unless it was said before; see torch.set_warn_always()."""
    if words in _said and not _C.is_warn_always_enabled():
        return
    _said.add(words)
    warnings.warn(words, UserWarning, stacklevel=3)
