"""Profiling: the measured times of operations and of backward's nodes.

Note: the core records calls from Python and the nodes of backward passes; off, it costs nothing.
One profiler is on in a process at a time, and it sees all threads.
"""

import functools
import sys

from rushlight import _C
from rushlight.autograd.profiler_util import EventList

__all__ = ["emit_itt", "emit_nvtx", "profile", "record_function"]

VIRTUAL_NOTE = "these are times of virtual GPUs, which compute on the CPU: no GPU was measured"
REAL_NOTE = "measured with a wait for the GPU after each operation"


def not_available(**given):
    """Raises for an argument of profile() that is not None."""
    for name, value in given.items():
        if value is not None:
            raise NotImplementedError(f"profile({name}=...) is not in rushlight")


def _stack():
    """The stack of the program, innermost first, without this library's own lines."""
    lines, frame = [], sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        lines.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return lines


def _note():
    from rushlight import cuda

    if not cuda.is_available():
        return ""
    return VIRTUAL_NOTE if "virtual" in _C._cuda.provider() else REAL_NOTE


def _profiler_enabled() -> bool:
    """Whether a profiler is on in this process."""
    return _C._is_profiling()


class profile:
    """Measures the operations of a block, and the nodes of backward passes in it.

    Args:
        enabled: False makes it do nothing.
        use_cuda: also the times of GPUs; on virtual ones they are the CPU's, and marked so.
        use_device: "cuda", the same.
        record_shapes: the shapes of inputs.
        with_flops: estimates of the work of products and convolutions.
        profile_memory: the bytes of results.
        with_stack: the lines of the program that called.
        with_modules: the same.
        use_kineto, use_cpu, acc_events: change nothing, as there is one way to record.
        experimental_config, custom_trace_id_callback: None; other values are not available.

    Raises:
        NotImplementedError: for these.
        custom_trace_id_callback: has no effect.

    Raises:
        RuntimeError: if another profiler is on, or this one was used before.

    >>> with torch.autograd.profiler.profile() as prof:
    ...     _ = torch.ones(3, 3) @ torch.ones(3, 3)
    >>> [event.name for event in prof.function_events]
    ['aten::ones', 'aten::ones', 'aten::matmul']
    """

    def __init__(
        self, enabled=True, *, use_cuda=False, use_device=None, record_shapes=False,
        with_flops=False, profile_memory=False, with_stack=False, with_modules=False,
        use_kineto=False, use_cpu=True, experimental_config=None, acc_events=False,
        custom_trace_id_callback=None,
    ):  # fmt: skip
        not_available(
            experimental_config=experimental_config,
            custom_trace_id_callback=custom_trace_id_callback,
        )
        self.enabled = enabled
        self.entered = False
        self.function_events = None
        self.use_cpu = use_cpu
        self.record_shapes = record_shapes or with_flops
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack or with_modules
        if use_device not in (None, "cuda"):
            raise ValueError(f"profile(): use_device must be 'cuda' or None, not {use_device!r}")
        self.use_device = "cuda" if use_cuda or use_device else None

    def __enter__(self):
        if not self.enabled:
            return self
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self._start()
        return self

    def _start(self):
        _C._start_profiler(
            bool(self.record_shapes), bool(self.profile_memory), self.use_device is not None,
            _stack if self.with_stack else None,
        )  # fmt: skip
        self.entered = True

    def __exit__(self, *error):
        if self.enabled:
            self._stop()
        return False

    def _stop(self):
        self.function_events = EventList._of(
            _C._stop_profiler(), use_device=self.use_device, note=_note(),
            profile_memory=self.profile_memory, flops=self.with_flops,
        )  # fmt: skip

    def _events(self):
        if self.function_events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self.function_events

    def table(self, *args, **kwargs):
        """The events as text; see EventList.table()."""
        return self._events().table(*args, **kwargs)

    def export_chrome_trace(self, path):
        """Writes the events to the file `path`, as JSON for chrome://tracing and Perfetto."""
        self._events().export_chrome_trace(path)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Writes lines of stack and time to the file `path`, for flame graphs; `metric` is an
        attribute of events.
        """
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self._events().export_stacks(path, metric)

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0):
        """The averages by name, and with `group_by_input_shape` or `group_by_stack_n` (frames) also
        by these; see EventList.key_averages().
        """
        return self._events().key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self):
        """The sums over all events."""
        return self._events().total_average()

    @property
    def self_cpu_time_total(self):
        """Microseconds of all events."""
        return self._events().self_cpu_time_total

    def __str__(self):
        if self.function_events is None:
            return "<unfinished torch.autograd.profile>"
        return str(self.function_events)

    __repr__ = __str__


class record_function:
    """Names a block, or each call of a function, in what a profiler records.

    Args:
        name: the name.
        args: more about it; ignored.

    >>> with torch.autograd.profiler.profile() as prof:
    ...     with torch.autograd.profiler.record_function("forward"):
    ...         _ = torch.ones(2) * 2
    >>> [event.name for event in prof.function_events]
    ['forward', 'aten::ones', 'aten::mul']
    """

    def __init__(self, name, args=None):
        if not isinstance(name, str):
            raise TypeError(
                f"record_function(): argument 'name' must be str, not {type(name).__name__}"
            )
        self.name = name
        self.args = args
        self._marks = []

    def __enter__(self):
        self._marks.append(_C._begin_mark(self.name))
        return self

    def __exit__(self, *error):
        if self._marks:
            _C._end_mark(*self._marks.pop())

    def __call__(self, function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return wrapper


def _record_function_enter(name, args=None):
    """Begins a mark; returns what _record_function_exit() takes."""
    return record_function(name, args).__enter__()


_record_function_enter_new = _record_function_enter


def _record_function_exit(mark):
    """Ends a mark."""
    mark.__exit__()


class emit_nvtx:
    """Would mark operations for NVIDIA's profilers; has no effect here.

    Args:
        enabled, record_shapes: are for those.

    >>> with torch.autograd.profiler.emit_nvtx():
    ...     _ = torch.ones(2)
    """

    def __init__(self, enabled=True, record_shapes=False):
        self.enabled = enabled
        self.record_shapes = record_shapes

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


class emit_itt(emit_nvtx):
    """Would mark operations for Intel's profilers; has no effect here.

    Args:
        enabled, record_shapes: are for those.

    >>> with torch.autograd.profiler.emit_itt():
    ...     _ = torch.ones(2)
    """
