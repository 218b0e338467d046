# Tables and files of what a profiler recorded.
import gzip
import json
import os

from rushlight.autograd.profiler_util import _bytes, _share, _time

SORTS = {
    "cpu_time", "cpu_time_total", "self_cpu_time_total", "device_time", "device_time_total",
    "self_device_time_total", "cuda_time", "cuda_time_total", "self_cuda_time_total",
    "cpu_memory_usage", "self_cpu_memory_usage", "device_memory_usage",
    "self_device_memory_usage", "cuda_memory_usage", "self_cuda_memory_usage", "count", "flops",
}  # fmt: skip


def cut(text, width):
    return text if width is None or len(text) <= width else text[: max(width - 3, 0)] + "..."


def table_of(events, sort_by, row_limit, src_width, name_width, shapes_width, header, top_only,
             unit):  # fmt: skip
    if unit not in (None, "s", "ms", "us"):
        raise AttributeError(f"table(): time_unit is 's', 'ms', 'us' or None, not {unit!r}")
    if sort_by is not None:
        if sort_by not in SORTS:
            raise AttributeError(
                f"'FunctionEventAvg' object has no attribute '{sort_by}'\n"
                f"table(): sort_by is one of {', '.join(sorted(SORTS))}"
            )
        events = events._like(
            sorted(events, key=lambda event: getattr(event, sort_by) or 0, reverse=True)
        )
    if not events:
        return ""
    rows = [e for e in events if not top_only or getattr(e, "cpu_parent", None) is None]
    if row_limit >= 0:
        rows = rows[:row_limit]
    total = sum(e.self_cpu_time_total for e in events)
    total_device = sum(e.self_device_time_total for e in events)
    device, memory = events._use_device, events._profile_memory
    columns = [
        ("Name", lambda e: cut(e.key, name_width)),
        ("Self CPU %", lambda e: _share(e.self_cpu_time_total, total)),
        ("Self CPU", lambda e: _time(e.self_cpu_time_total, unit)),
        ("CPU total %", lambda e: _share(e.cpu_time_total, total)),
        ("CPU total", lambda e: _time(e.cpu_time_total, unit)),
        ("CPU time avg", lambda e: _time(e.cpu_time, unit)),
    ]
    if device:
        columns += [
            ("Self CUDA", lambda e: _time(e.self_device_time_total, unit)),
            ("Self CUDA %", lambda e: _share(e.self_device_time_total, total_device)),
            ("CUDA total", lambda e: _time(e.device_time_total, unit)),
            ("CUDA time avg", lambda e: _time(e.device_time, unit)),
        ]
    if memory:
        columns += [
            ("CPU Mem", lambda e: _bytes(e.cpu_memory_usage)),
            ("Self CPU Mem", lambda e: _bytes(e.self_cpu_memory_usage)),
        ]
        if device:
            columns += [
                ("CUDA Mem", lambda e: _bytes(e.device_memory_usage)),
                ("Self CUDA Mem", lambda e: _bytes(e.self_device_memory_usage)),
            ]
    columns.append(("# of Calls", lambda e: str(e.count)))
    if any(e.input_shapes for e in events):
        columns.append(("Input Shapes", lambda e: cut(str(e.input_shapes), shapes_width)))
    if any(e.stack for e in events):
        columns.append(("Source Location", lambda e: cut((e.stack or [""])[0], src_width)))
    if events._with_flops:
        columns.append(("Total FLOPs", lambda e: str(e.flops) if e.flops else "--"))
    cells = [[show(e) for _, show in columns] for e in rows]
    widths = [
        max(12, len(title), *(len(row[i]) for row in cells)) if cells else max(12, len(title))
        for i, (title, _) in enumerate(columns)
    ]
    rule = "  ".join("-" * width for width in widths) + "  "
    lines = [] if header is None else ["=" * len(rule), header]
    lines += [rule, "  ".join(t.rjust(w) for (t, _), w in zip(columns, widths, strict=True)), rule]
    lines += [
        "  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in cells
    ]
    lines += [rule, f"Self CPU time total: {_time(total, unit)}"]
    if device:
        lines.append(f"Self CUDA time total: {_time(total_device, unit)}")
        lines.append(events._note)
    return "\n".join(lines) + "\n"


def write_chrome_trace(events, path, metadata=None):
    process = os.getpid()
    entries = []
    for event in events:
        entry = {"name": event.name, "ph": "X", "ts": event.time_range.start,
                 "dur": event.time_range.elapsed_us()}  # fmt: skip
        kind = "user_annotation" if event.is_user_annotation else "cpu_op"
        args = {"Input Dims": event.input_shapes} if event.input_shapes else {}
        if event.stack:
            args["Call stack"] = ";".join(event.stack)
        entries.append({**entry, "cat": kind, "pid": process, "tid": event.thread, "args": args})
        if event.self_device_time_total:
            entries.append({**entry, "cat": "kernel", "pid": event.device_index, "tid": "stream 0",
                            "args": {"note": events._note}})  # fmt: skip
    trace = {"schemaVersion": 1, "traceEvents": entries, **(metadata or {})}
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8") as file:
        json.dump(trace, file)
