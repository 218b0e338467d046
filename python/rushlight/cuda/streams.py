# Streams and events. The core identifies a stream by an int, and keeps the current one per
# thread and device.
from .. import _C
from ._device import _cuda, device_index


class Stream:
    """A queue of work on one device. On virtual GPUs each call is done when it returns.

    Args:
        device: whose work; the current device if None.
        priority: negative for high priority.
        stream_id: that of an existing stream; a new stream if None.

    >>> with torch.cuda.virtual(1):
    ...     s = torch.cuda.Stream()
    ...     with torch.cuda.stream(s):
    ...         y = torch.ones(2, device="cuda") * 3
    ...     s.synchronize()
    ...     y.sum().item()
    6.0
    """

    def __init__(self, device=None, priority=0, *, stream_id=None):
        index = device_index(device)
        self.device = _C.device("cuda", index)
        self.device_index = index
        self.priority = -1 if priority < 0 else 0
        if stream_id is None:
            stream_id = _cuda.new_stream(index, priority)
        self.stream_id = self.cuda_stream = stream_id

    def synchronize(self) -> None:
        """Waits until all work given to this stream is done."""
        _cuda.stream_synchronize(self.device_index, self.stream_id)

    def query(self) -> bool:
        """Whether all work given to this stream is done."""
        return _cuda.stream_done(self.device_index, self.stream_id)

    def wait_event(self, event) -> None:
        """Makes later work of this stream wait for an event."""
        event.wait(self)

    def wait_stream(self, stream) -> None:
        """Makes later work of this stream wait for what `stream` has been given so far."""
        self.wait_event(stream.record_event())

    def record_event(self, event=None):
        """Records an event (a new one by default) and returns it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __enter__(self):
        self._context = StreamContext(self)
        self._context.__enter__()
        return self

    def __exit__(self, *error):
        return self._context.__exit__(*error)

    def __eq__(self, other):
        if not isinstance(other, Stream):
            return NotImplemented
        return (self.device_index, self.stream_id) == (other.device_index, other.stream_id)

    def __hash__(self):
        return hash((self.device_index, self.stream_id))

    def __repr__(self):
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class Event:
    """A mark in a stream, to wait for or to measure time with.

    Args:
        enable_timing: whether `elapsed_time` can be called.
        blocking: a hint, which changes nothing.
        interprocess, external: True raises NotImplementedError.

    >>> with torch.cuda.virtual(1):
    ...     start = torch.cuda.Event(enable_timing=True)
    ...     end = torch.cuda.Event(enable_timing=True)
    ...     start.record()
    ...     end.record()
    ...     start.elapsed_time(end) >= 0
    True
    """

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        if interprocess or external:
            name = "interprocess" if interprocess else "external"
            raise NotImplementedError(f"Event({name}=True) is not in rushlight")
        self.enable_timing = enable_timing
        self._event = None

    def record(self, stream=None) -> None:
        """Marks the moment when the work given to `stream` (the current one) so far is done."""
        stream = current_stream() if stream is None else stream
        self._event = _cuda.Event(stream.device_index, self.enable_timing)
        self._event.record(stream.device_index, stream.stream_id)

    def wait(self, stream=None) -> None:
        """Makes later work of `stream` (the current one) wait for this event."""
        stream = current_stream() if stream is None else stream
        if self._event is not None:
            self._event.wait(stream.device_index, stream.stream_id)

    def query(self) -> bool:
        """Whether the work before this event is done; an event never recorded has none."""
        return self._event is None or self._event.done()

    def synchronize(self) -> None:
        """Waits until the work before this event is done."""
        if self._event is not None:
            self._event.synchronize()

    def elapsed_time(self, end_event) -> float:
        """Milliseconds from this event to `end_event`.

        Raises: RuntimeError, if one of them was made without enable_timing or not recorded.
        """
        if not (self.enable_timing and end_event.enable_timing):
            raise RuntimeError("Both events must be created with argument 'enable_timing=True'.")
        if self._event is None or end_event._event is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return self._event.elapsed(end_event._event)

    def __repr__(self):
        return "<torch.cuda.Event uninitialized>" if self._event is None else "<torch.cuda.Event>"


class StreamContext:
    """Context in which work on a stream's device goes to that stream, and "cuda" means its device.

    Args:
        stream: the stream; None changes nothing.

    >>> with torch.cuda.virtual(1):
    ...     s = torch.cuda.Stream()
    ...     with torch.cuda.StreamContext(s):
    ...         torch.cuda.current_stream() == s
    True
    """

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is not None:
            index = self.stream.device_index
            self.before = _cuda.current_device(), _cuda.current_stream(index)
            set_stream(self.stream)

    def __exit__(self, *_):
        if self.stream is not None:
            device, stream = self.before
            _cuda.set_stream(self.stream.device_index, stream)
            _cuda.set_device(device)
        return False


def stream(stream) -> StreamContext:
    """Context in which work goes to a stream.

    Args:
        stream: the stream; None changes nothing.

    >>> with torch.cuda.virtual(1), torch.cuda.stream(torch.cuda.Stream()):
    ...     torch.ones(2, device="cuda").sum().item()
    2.0
    """
    return StreamContext(stream)


def set_stream(stream) -> None:
    """Makes a stream the current one of its device, and that device the current one.

    Args:
        stream: the stream; None changes nothing.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.set_stream(torch.cuda.default_stream())
    """
    if stream is not None:
        _cuda.set_device(stream.device_index)
        _cuda.set_stream(stream.device_index, stream.stream_id)


def current_stream(device=None) -> Stream:
    """The stream that work on a device goes to in this thread.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.current_stream() == torch.cuda.default_stream()
    True
    """
    index = device_index(device)
    return Stream(index, stream_id=_cuda.current_stream(index))


def default_stream(device=None) -> Stream:
    """The stream that a device has from the start.

    Args:
        device: index, string or torch.device; the current device if None.

    >>> with torch.cuda.virtual(1):
    ...     torch.cuda.default_stream().device
    device(type='cuda', index=0)
    """
    return Stream(device, stream_id=0)
