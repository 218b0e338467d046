"""The CPU by the functions of torch.cuda: one device, whose work is done when a call returns.

>>> torch.cpu.is_available(), torch.cpu.device_count(), torch.cpu.current_device()
(True, 1, 'cpu')
"""

import contextlib

from rushlight.cpu import amp

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "amp",
    "current_device",
    "current_stream",
    "device_count",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]


def is_available() -> bool:
    """True: there is a CPU."""
    return True


def is_initialized() -> bool:
    """True: there is nothing to initialize."""
    return True


def device_count() -> int:
    """1: all cores are one device."""
    return 1


def current_device() -> str:
    """Its name, "cpu"."""
    return "cpu"


def set_device(device=None) -> None:
    """Does nothing: there is one device.

    Args:
        device: that one.
    """


def synchronize(device=None) -> None:
    """Does nothing: what was called is done.

    Args:
        device: the one device.
    """


class Stream:
    """The order in which a CPU works: there is one.

    Args:
        priority: accepted, as of CUDA's streams.
    """

    def __init__(self, priority: int = -1):
        pass

    def wait_stream(self, stream) -> None:
        """Does nothing: what a stream has been given is done.

        Args:
            stream: any stream.
        """

    def record_event(self) -> None:
        """Does nothing: what comes before is done."""

    def wait_event(self, event) -> None:
        """Does nothing: what an event waits for is done.

        Args:
            event: any event.
        """


class Event:
    """A moment in a stream: on the CPU it has always come."""

    def query(self) -> bool:
        """True: what comes before is done."""
        return True

    def record(self, stream=None) -> None:
        """Does nothing: what comes before is done.

        Args:
            stream: any stream.
        """

    def synchronize(self) -> None:
        """Does nothing: what comes before is done."""

    def wait(self, stream=None) -> None:
        """Does nothing: what comes before is done.

        Args:
            stream: any stream.
        """


_STREAM = Stream()


def current_stream(device=None) -> Stream:
    """The one stream.

    Args:
        device: the one device.
    """
    return _STREAM


class StreamContext(contextlib.AbstractContextManager):
    """A block on a stream of the CPU; see stream().

    Args:
        stream: the stream.
    """

    def __init__(self, stream):
        self.stream = stream

    def __exit__(self, *exception):
        return None

    def __enter__(self):
        return None


def stream(stream: Stream) -> StreamContext:
    """A context in which a stream is the current one: on the CPU all are alike.

    Args:
        stream: the stream.
    """
    return StreamContext(stream)
