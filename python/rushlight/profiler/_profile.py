# The profiler with a schedule.
import enum
import json
import os
import socket
import time
import warnings

from rushlight.autograd import profiler as events
from rushlight.autograd._profiler_table import write_chrome_trace

__all__ = [
    "DeviceType", "ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "schedule",
    "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerActivity(enum.Enum):
    """What is measured: operations on the CPU, or their work on GPUs.

    >>> torch.profiler.ProfilerActivity.CPU.name
    'CPU'
    """

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class DeviceType(enum.Enum):
    """Where an event ran."""

    CPU = 0
    CUDA = 1


class ProfilerAction(enum.Enum):
    """What happens in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """The function from a step's number to what the profiler does in it.

    Args:
        wait: steps at the beginning of a cycle that are left alone.
        warmup: then steps in which the profiler is on, and forgets.
        active: then steps that are recorded.
        repeat: how many cycles; 0 for no end.
        skip_first: steps before the first cycle.
        skip_first_wait: not 0: the first cycle does not wait.

    Raises:
        AssertionError: for negative numbers, or no active step.

    >>> plan = torch.profiler.schedule(wait=0, warmup=1, active=2, repeat=1)
    >>> [plan(step).name for step in range(4)]
    ['WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if min(wait, warmup, active - 1, repeat, skip_first) < 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} "
            f"(need >= 0), active={active} (need > 0), repeat={repeat} (need >= 0), "
            f"skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warnings.warn(
            "Profiler won't be using warmup, this can skew profiler results", stacklevel=2
        )
    length = wait + warmup + active

    def plan(step):
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        if repeat > 0 and step // length >= repeat:
            return ProfilerAction.NONE
        position = step % length
        if position < wait:
            return ProfilerAction.NONE
        if position < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if position < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return plan


def _default_schedule_fn(step):
    return ProfilerAction.RECORD


def supported_activities():
    """The activities that can be measured here.

    >>> torch.profiler.ProfilerActivity.CPU in torch.profiler.supported_activities()
    True
    """
    from rushlight import cuda

    found = {ProfilerActivity.CPU}
    return found | {ProfilerActivity.CUDA} if cuda.is_available() else found


def kineto_available():
    """False: the library that measures for torch is not used here.

    >>> torch.profiler.kineto_available()
    False
    """
    return False


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False, use_python_export=False):
    """A function for `on_trace_ready` that writes each trace into a folder, as TensorBoard's plugin
    for profiles wants it.

    Args:
        dir_name: the folder; made if it is not there.
        worker_name: in the file's name; the host and the process if None.
        use_gzip: pack the files.

    Raises:
        RuntimeError: from that function, if the folder cannot be made.

    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ready = torch.profiler.tensorboard_trace_handler(folder, "me")
    ...     with torch.profiler.profile(on_trace_ready=ready):
    ...         _ = torch.ones(2) * 2
    ...     [name.split(".")[0] for name in os.listdir(folder)]
    ['me']
    """

    def write(profiler):
        if not os.path.isdir(dir_name):
            try:
                os.makedirs(dir_name, exist_ok=True)
            except OSError as error:
                raise RuntimeError("Can't create directory: " + str(dir_name)) from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else "")
        profiler.export_chrome_trace(os.path.join(dir_name, name))

    return write


class profile:
    """Measures operations in the steps of a loop that a schedule names.

    Args:
        activities: ProfilerActivity.CPU, ProfilerActivity.CUDA or both; all there are unless given.
        schedule: from a step's number to a ProfilerAction; all is recorded unless given.
        on_trace_ready: is called with the profiler after each cycle of the schedule.
        record_shapes: the shapes of inputs.
        profile_memory: the bytes of results.
        with_stack: the lines of the program that called.
        with_flops: estimates of the work of products and convolutions.
        with_modules: the same as with_stack.
        acc_events: events() holds those of all cycles, not only of the last one.
        use_cuda: the older way to say whether `activities` has CUDA.
        experimental_config, execution_trace_observer, custom_trace_id_callback: not available.

    Times of virtual GPUs are the CPU's that computes for them, and tables and traces are marked so.

    Raises:
        RuntimeError: if another profiler is on.
        NotImplementedError: for what is not available.

    >>> cpu = torch.profiler.ProfilerActivity.CPU
    >>> with torch.profiler.profile(activities=[cpu], record_shapes=True) as prof:
    ...     with torch.profiler.record_function("forward"):
    ...         _ = torch.nn.Linear(3, 2)(torch.ones(4, 3))
    >>> averages = {average.key: average for average in prof.key_averages()}
    >>> averages["aten::linear"].count, averages["forward"].count
    (1, 1)
    """

    def __init__(
        self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False,
        profile_memory=False, with_stack=False, with_flops=False, with_modules=False,
        experimental_config=None, execution_trace_observer=None, acc_events=False, use_cuda=None,
        custom_trace_id_callback=None,
    ):  # fmt: skip
        events.not_available(
            experimental_config=experimental_config,
            execution_trace_observer=execution_trace_observer,
            custom_trace_id_callback=custom_trace_id_callback,
        )
        kinds = set(supported_activities() if activities is None else activities)
        if use_cuda is not None:
            kinds = kinds | {ProfilerActivity.CUDA} if use_cuda else kinds - {ProfilerActivity.CUDA}
        if not kinds or not all(isinstance(kind, ProfilerActivity) for kind in kinds):
            raise AssertionError("No valid profiler activities found")
        for name, given in (("schedule", schedule), ("on_trace_ready", on_trace_ready)):
            if given is not None and not callable(given):
                raise TypeError(f"profile(): {name} must be callable, not {type(given).__name__}")
        from rushlight import cuda

        self.activities = kinds
        self.schedule = schedule or _default_schedule_fn
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = self._planned()
        self.step_rec_fn = None
        self.profiler = None
        self._metadata = {}
        self._accumulated = [] if acc_events else None
        self._options = {
            "use_cuda": ProfilerActivity.CUDA in kinds and cuda.is_available(),
            "record_shapes": record_shapes, "profile_memory": profile_memory,
            "with_stack": with_stack, "with_flops": with_flops, "with_modules": with_modules,
        }  # fmt: skip

    def _planned(self):
        action = self.schedule(self.step_num)
        if not isinstance(action, ProfilerAction):
            raise TypeError(
                f"profile(): schedule must return a ProfilerAction, not {type(action).__name__}"
            )
        return action

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()
        return False

    def start(self):
        """Begins."""
        if self.current_action != ProfilerAction.NONE:
            self._begin()
        self._open_step()

    def stop(self):
        """Ends; a recording that is not complete is ready, too."""
        self._close_step()
        if self._is_on():
            self.profiler._stop()
            if self.current_action != ProfilerAction.WARMUP:
                self._ready()

    def step(self):
        """Begins the next step of the loop."""
        self._close_step()
        before, self.step_num = self.current_action, self.step_num + 1
        self.current_action = now = self._planned()
        ends = before == ProfilerAction.RECORD_AND_SAVE
        if self._is_on() and (ends or now == ProfilerAction.NONE or before != now):
            complete = ends or now in (ProfilerAction.NONE, ProfilerAction.WARMUP)
            continues = before == ProfilerAction.RECORD and not complete
            if not continues:
                self.profiler._stop()
                if before in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
                    self._ready()
        if now != ProfilerAction.NONE and not self._is_on():
            self._begin()
        self._open_step()

    def _is_on(self):
        return self.profiler is not None and self.profiler.function_events is None

    def _begin(self):
        made = events.profile(**self._options)
        made._start()
        self.profiler = made

    def _ready(self):
        if self._accumulated is not None:
            self.profiler.function_events[:0] = self._accumulated
            self._accumulated = list(self.profiler.function_events)
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _open_step(self):
        if self.record_steps and self.current_action != ProfilerAction.NONE:
            self.step_rec_fn = events.record_function(f"ProfilerStep#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _close_step(self):
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def _finished(self):
        if self.profiler is None or self.profiler.function_events is None:
            raise AssertionError("Profiler must be initialized before getting key averages")
        return self.profiler

    def events(self):
        """The events of the last recording, in the order of their beginnings."""
        return self._finished().function_events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0):
        """The averages by name; see EventList.key_averages()."""
        return self._finished().key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path):
        """Writes the last recording as JSON for chrome://tracing and Perfetto."""
        write_chrome_trace(self._finished().function_events, path, self._metadata)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Writes lines of stack and time, for flame graphs."""
        self._finished().export_stacks(path, metric)

    def add_metadata(self, key, value):
        """Adds a string to the traces that are written."""
        self._metadata[str(key)] = str(value)

    def add_metadata_json(self, key, value):
        """Adds a value, given as JSON, to the traces that are written."""
        self._metadata[str(key)] = json.loads(value)
