"""ExceptionWrapper: an exception carried from a worker, with the traceback as text."""

import sys
import traceback


class _Verbatim(str):
    """A message whose repr is itself: KeyError prints the repr of its argument."""

    def __repr__(self):
        return str(self)


class ExceptionWrapper:
    """The exception being handled, ready to be pickled and raised elsewhere.

    Args:
        exc_info: as sys.exc_info() gives it; the current exception if None.
        where: ends the sentence "Caught ValueError ...".

    Example:
        >>> from rushlight.utils.data._utils.exception import ExceptionWrapper
        >>> try:
        ...     1 / 0
        ... except ZeroDivisionError:
        ...     caught = ExceptionWrapper(where="in an example")
        >>> try:
        ...     caught.reraise()
        ... except ZeroDivisionError as error:
        ...     print(str(error).splitlines()[0])
        Caught ZeroDivisionError in an example.
    """

    def __init__(self, exc_info=None, where="in background"):
        # Only text is kept: a traceback object would keep every frame's tensors alive.
        exc_info = exc_info or sys.exc_info()
        self.exc_type = exc_info[0]
        self.exc_msg = "".join(traceback.format_exception(*exc_info))
        self.where = where

    def reraise(self):
        """Raise an exception of the same type, its message the original traceback."""
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = _Verbatim(message)
        try:
            error = self.exc_type(message)
        except Exception:
            # A type whose constructor needs more than a message cannot be made here.
            error = RuntimeError(message)
        raise error from None
