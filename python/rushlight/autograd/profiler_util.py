"""What a profiler recorded: events, their averages by name, and the tables made of them."""

from collections import defaultdict

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "Interval"]

# Calls that look at a tensor or start a backward pass: no work of their own.
_NO_WORK = frozenset(
    "aten::" + name
    for name in "size dim ndimension stride numel nelement is_contiguous storage_offset data_ptr "
    "element_size requires_grad_ retain_grad backward is_floating_point is_complex is_signed "
    "get_device _storage_id _is_resizable is_same_size".split()
)


_MICROSECONDS = {"s": 1e6, "ms": 1e3, "us": 1.0}


def _time(microseconds, unit=None):
    if unit is None:
        unit = next((u for u, size in _MICROSECONDS.items() if microseconds >= size), "us")
    return f"{microseconds / _MICROSECONDS[unit]:.3f}{unit}"


def _bytes(count):
    for power, unit in ((3, "GB"), (2, "MB"), (1, "KB")):
        if abs(count) >= 1024**power:
            return f"{count / 1024**power:.2f} {unit}"
    return f"{count} B"


def _share(part, whole):
    if whole == 0:
        return "NaN" if part else "0.00%"
    return f"{100 * part / whole:.2f}%"


class Interval:
    """From when to when, in microseconds."""

    def __init__(self, start, end):
        self.start = start
        self.end = end

    def elapsed_us(self):
        """Its length."""
        return self.end - self.start


class _Figures:
    """Names that torch has for the same figures."""

    @property
    def device_time(self):
        """Microseconds on the GPU of one call."""
        return self.device_time_total / self.count if self.count else 0.0

    @property
    def cpu_time(self):
        """Microseconds of one call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cuda_time(self):
        """The same as device_time."""
        return self.device_time

    @property
    def cuda_time_total(self):
        """The same as device_time_total."""
        return self.device_time_total

    @property
    def self_cuda_time_total(self):
        """The same as self_device_time_total."""
        return self.self_device_time_total

    @property
    def cuda_memory_usage(self):
        """The same as device_memory_usage."""
        return self.device_memory_usage

    @property
    def self_cuda_memory_usage(self):
        """The same as self_device_memory_usage."""
        return self.self_device_memory_usage

    @property
    def cpu_time_str(self):
        """cpu_time with its unit."""
        return _time(self.cpu_time)

    @property
    def cpu_time_total_str(self):
        """cpu_time_total with its unit."""
        return _time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self):
        """self_cpu_time_total with its unit."""
        return _time(self.self_cpu_time_total)

    @property
    def device_time_total_str(self):
        """device_time_total with its unit."""
        return _time(self.device_time_total)


class FunctionEvent(_Figures):
    """One call: its name, times in microseconds, thread, and the calls within it."""

    count = 1

    def __init__(self, id, record, origin, use_device):
        (
            self.name, start, end, self.thread, own_bytes, own_device_bytes, self.elements, device,
            self.is_node, self.is_user_annotation, self.input_shapes, self.stack,
        ) = record  # fmt: skip
        self.id = id
        self.key = self.name
        self.time_range = Interval((start - origin) / 1000, (end - origin) / 1000)
        self.device_index = device
        self.use_device = use_device
        self.cpu_children = []
        self.cpu_parent = None
        self._own = own_bytes, own_device_bytes
        self.flops = None

    @property
    def cpu_time_total(self):
        """Microseconds of the call."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self):
        """Microseconds of the call without those within it."""
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_device_time_total(self):
        """Microseconds on the GPU, without the calls within it."""
        return self.self_cpu_time_total if self.use_device and self.device_index >= 0 else 0.0

    @property
    def device_time_total(self):
        """Microseconds on the GPU."""
        within = sum(child.device_time_total for child in self.cpu_children)
        return self.self_device_time_total + within

    @property
    def self_cpu_memory_usage(self):
        """Bytes of results on the CPU, without the calls within it."""
        return self._own[0]

    @property
    def self_device_memory_usage(self):
        """Bytes of results on GPUs, without the calls within it."""
        return self._own[1]

    @property
    def cpu_memory_usage(self):
        """Bytes of results on the CPU."""
        return self._own[0] + sum(child.cpu_memory_usage for child in self.cpu_children)

    @property
    def device_memory_usage(self):
        """Bytes of results on GPUs."""
        return self._own[1] + sum(child.device_memory_usage for child in self.cpu_children)

    def __repr__(self):
        return (
            f"<FunctionEvent id={self.id} name={self.name} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[child.id for child in self.cpu_children]} thread={self.thread} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage}>"
        )


class FunctionEventAvg(_Figures):
    """The sums over all calls of one name, and their averages."""

    _SUMS = (
        "cpu_time_total", "self_cpu_time_total", "device_time_total", "self_device_time_total",
        "cpu_memory_usage", "self_cpu_memory_usage", "device_memory_usage",
        "self_device_memory_usage",
    )  # fmt: skip

    def __init__(self):
        self.key = None
        self.count = 0
        self.input_shapes = None
        self.stack = None
        self.flops = 0
        self.is_user_annotation = False
        for name in self._SUMS:
            setattr(self, name, 0)

    def add(self, other):
        """Adds an event or other averages; returns itself."""
        if self.key is None:
            self.key, self.input_shapes, self.stack = other.key, other.input_shapes, other.stack
            self.is_user_annotation = other.is_user_annotation
        self.count += other.count
        self.flops += other.flops or 0
        for name in self._SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    def __iadd__(self, other):
        return self.add(other)

    def __repr__(self):
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str}  self_cuda_time={_time(self.self_device_time_total)} "
            f"cuda_time={_time(self.device_time)} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} "
            f"cuda_memory_usage={self.device_memory_usage}>"
        )


def _flops(event):
    """Of products and convolutions, from the shapes of their operands; None of others."""
    shapes = [shape for shape in event.input_shapes if shape]
    name = event.name.removeprefix("aten::")
    if name in ("mm", "matmul", "bmm", "linear", "addmm", "mv"):
        pair = shapes[-2:] if name == "addmm" else shapes[:2]
        return 2 * event.elements * pair[0][-1] if len(pair) == 2 else None
    if name.startswith("conv") and len(shapes) >= 2:
        weight = 1
        for n in shapes[1][1:]:
            weight *= n
        return 2 * event.elements * weight
    if name in ("add", "sub", "mul", "div") and shapes:
        return event.elements
    return None


class EventList(list):
    """Events in the order of their beginnings, or averages."""

    def __init__(self, events=(), *, use_device=None, note="", profile_memory=False, flops=False):
        super().__init__(events)
        self._use_device = use_device
        self._note = note
        self._profile_memory = profile_memory
        self._with_flops = flops

    def _like(self, events):
        return EventList(
            events, use_device=self._use_device, note=self._note,
            profile_memory=self._profile_memory, flops=self._with_flops,
        )  # fmt: skip

    @classmethod
    def _of(cls, records, **options):
        """The tree of events that a recording gives."""
        origin = min((record[1] for record in records), default=0)
        made, open_of = cls(**options), defaultdict(list)
        ordered = sorted(records, key=lambda record: (record[1], -record[2]))
        for record in ordered:
            if record[0] in _NO_WORK:
                continue
            event = FunctionEvent(len(made), record, origin, made._use_device)
            around = open_of[event.thread]
            while around and around[-1].time_range.end < event.time_range.end:
                around.pop()
            if around:
                event.cpu_parent = around[-1]
                around[-1].cpu_children.append(event)
            around.append(event)
            if made._with_flops:
                event.flops = _flops(event)
            made.append(event)
        return made

    @property
    def self_cpu_time_total(self):
        """Microseconds of all of them."""
        return sum(event.self_cpu_time_total for event in self)

    def total_average(self):
        """The sums over all."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
        total.key = "Total"
        return total

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0):
        """The averages by name, and by the shapes of inputs or the innermost lines of the stack."""
        groups = defaultdict(FunctionEventAvg)
        for event in self:
            key = [event.key]
            if group_by_input_shape:
                key.append(str(event.input_shapes))
            if group_by_stack_n:
                key.append(tuple(event.stack[:group_by_stack_n]))
            groups[tuple(key)].add(event)
        for average in groups.values():
            average.stack = (average.stack or [])[:group_by_stack_n]
            if not group_by_input_shape:
                average.input_shapes = ""
        return self._like(groups.values())

    def table(
        self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55,
        max_shapes_column_width=80, header=None, top_level_events_only=False, time_unit=None,
    ):  # fmt: skip
        """The figures as text.

        Args:
            sort_by: cpu_time, cpu_time_total, self_cpu_time_total, cuda_time_total,
                cpu_memory_usage, self_cpu_memory_usage, count, ..., the largest first.
            row_limit: how many rows; -1 for all.
            header: a line above.
            time_unit: "s", "ms" or "us" for all times; None for what suits each of them.
        """
        from rushlight.autograd._profiler_table import table_of

        return table_of(
            self, sort_by, row_limit, max_src_column_width, max_name_column_width,
            max_shapes_column_width, header, top_level_events_only, time_unit,
        )  # fmt: skip

    def __str__(self):
        return self.table()

    def export_chrome_trace(self, path):
        """Writes the events as JSON for chrome://tracing and Perfetto; packed for a path in .gz."""
        from rushlight.autograd._profiler_table import write_chrome_trace

        write_chrome_trace(self, path)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Writes lines of stack and time, for flame graphs; events need with_stack=True."""
        names = ("self_cpu_time_total", "self_cuda_time_total")
        if metric not in names:
            raise ValueError("metric should be one of: " + str(list(names)))
        with open(path, "w", encoding="utf-8") as file:
            for event in self:
                value = int(getattr(event, metric))
                if event.stack and value > 0:
                    frames = [line.replace(";", ",") for line in reversed(event.stack)]
                    print(";".join([*frames, event.name]), value, file=file)
