"""Torch's samples with one number, or two of them, or a size made extreme: what a call then takes
of time and memory, beside what torch takes.

python -m tests.oracle.extremes --out FILE [names] [--side ours|torch] [--most N] [--part K/N]

A line of JSON for each call: what it gave or raised, megabytes and seconds. A call that takes
longer than PATIENCE is interrupted as by Ctrl-C, and the line says how long it took to answer.
--only FILE: of a list of [name, number] alone, to ask torch about some of the calls.
"""

import argparse
import json
import mmap
import os
import random
import resource
import select
import signal
import sys
import time
import warnings
from pathlib import Path

import torch

from tests.oracle import ops
from tests.oracle.campaign import describe
from tests.oracle.transfer import Carrier, Untransferable

INTS = (
    2**20, 2**26, 2**31, 2**33, 2**40, 2**62, 2**63 - 1, 0, -1, -2, -(2**31), -(2**62), -(2**63)
)  # fmt: skip
FLOATS = (0.0, -1.0, 1e-300, 1e6, 2.0**33, 2.0**62, 1e300, float("inf"), float("nan"))
PAIRS = ((2**26, 2**25), (2**33, 2**32), (2**20, 2**19), (2**40, 1), (2**26, 1), (2**26, 2**26))
SIZES = (2**26, 2**31, 2**40)
PATIENCE = 0.15
SILENCE = 15
ROOM = 6 << 30


def paths(value, at=()):
    """The places of numbers and tensors in the arguments of a call."""
    if isinstance(value, bool | str | type(None)):
        return
    if isinstance(value, int | float | torch.Tensor):
        yield at, value
    elif isinstance(value, list | tuple):
        numbers = [x for x in value if isinstance(x, int) and not isinstance(x, bool)]
        if len(numbers) > 1 and len(numbers) == len(value):
            yield (*at, "all"), value
        for i, item in enumerate(value[:6]):
            yield from paths(item, (*at, i))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from paths(item, (*at, key))


def replaced(value, at, new):
    if not at:
        return new
    if at[0] == "all":
        kind = type(value) if type(value) in (list, tuple) else list
        return kind([new] * len(value))
    if isinstance(value, dict):
        return {**value, at[0]: replaced(value[at[0]], at[1:], new)}
    items = list(value)
    items[at[0]] = replaced(items[at[0]], at[1:], new)
    return tuple(items) if type(value) is not list else items


def stretched(t):
    if t.layout is not torch.strided:
        return
    t = t.detach()
    for d in range(t.dim()):
        if t.shape[d]:
            for size in SIZES:
                sizes = list(t.shape)
                sizes[d] = size
                try:
                    yield t.narrow(d, 0, 1).expand(sizes)
                except RuntimeError:
                    continue
    if t.dtype in (torch.int64, torch.int32) and t.numel():
        for n in (2**20, 2**30, 2**40, 2**62, -(2**40)):
            if abs(n) < 2**31 or t.dtype is torch.int64:
                changed = t.clone()
                changed.view(-1)[-1] = n
                yield changed
                yield torch.full_like(t, n)


def calls(samples, draw, most):
    """(args, kwargs) of the calls that a row's samples make."""
    made, wide, seen = [], [], {}
    for sample in samples:
        call = ((sample.input, *sample.args), dict(sample.kwargs))
        places = list(paths(call))
        for at, value in places:
            key = at, type(value), value.dim() if isinstance(value, torch.Tensor) else 0
            seen[key] = seen.get(key, 0) + 1
            if seen[key] > 2:
                continue
            if isinstance(value, torch.Tensor):
                others = stretched(value)
            else:
                others = FLOATS if isinstance(value, float) else INTS
            kind = wide if isinstance(value, torch.Tensor) else made
            kind.extend(replaced(call, at, other) for other in others)
        numbers = [at for at, v in places if isinstance(v, int | list | tuple)]
        for i, first in enumerate(numbers):
            for second in numbers[i + 1 :]:
                if first[: len(second) - 1] == second[:-1] and "all" in (first[-1], second[-1]):
                    continue
                key = first, second
                seen[key] = seen.get(key, 0) + 1
                if seen[key] > 1:
                    continue
                for a, b in PAIRS:
                    made.append(replaced(replaced(call, first, a), second, b))
                    made.append(replaced(replaced(call, first, b), second, a))
        tensors = [(at, v) for at, v in places if isinstance(v, torch.Tensor) and v.dim()]
        key = "together", len(tensors), tensors[0][1].dim() if tensors else 0
        if len(tensors) > 1 and key not in seen:
            seen[key] = 1
            for d in (0, -1):
                for size in SIZES:
                    other = call
                    for at, v in tensors:
                        sizes = list(v.shape)
                        if sizes[d]:
                            sizes[d] = size
                            try:
                                new = v.detach().narrow(d, 0, 1).expand(sizes)
                            except RuntimeError:
                                continue
                            other = replaced(other, at, new)
                    wide.append(other)
    few = draw.sample(wide, min(len(wide), most // 4))  # each takes long
    return draw.sample(made, min(len(made), most)) + few


def memory(word):
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(word):
                return int(line.split()[1]) // 1024
    return 0


def told(value):
    if isinstance(value, list | tuple):
        return "[" + ", ".join(told(v) for v in value[:4]) + "]"
    if hasattr(value, "shape"):
        return f"{str(value.dtype).rpartition('.')[2]}{list(value.shape)}"
    return type(value).__name__


def interrupt(*_):
    raise KeyboardInterrupt


def one(call, args, named, title, what, number):
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = memory("VmRSS")
    begin = time.monotonic()
    value = None
    try:
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        value = call(*args, **named)
        end = time.monotonic()
        kind, words = "value", told(value)
    except BaseException as error:
        end = time.monotonic()
        kind, words = type(error).__name__, str(error)
        error.__traceback__ = None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    peak = memory("VmHWM") - before
    return {
        "op": title, "n": number, "what": what, "kind": kind, "words": words[:700],
        "mb": peak, "s": round(end - begin, 3),
    }  # fmt: skip


def run(op, options, done, note, write):
    draw = random.Random(ops.title(op))
    mine = ops.ours(op)
    if mine is ops.ABSENT:
        there = ops._path(__import__("rushlight"), op.name)
        if there is ops.ABSENT:
            return
        mine = there
    number = 0
    for dtype in (torch.float32, torch.int64, torch.complex64):
        if dtype not in op.dtypes or (number and dtype is torch.complex64):
            continue
        torch.manual_seed(0)
        samples = list(op.sample_inputs("cpu", dtype, requires_grad=False))
        most = options.most if dtype is not torch.int64 else options.most // 3
        for args, named in calls(samples, draw, most):
            number += 1
            if number <= done:
                continue
            if options.only and (ops.title(op), number) not in options.only:
                continue
            what = f"{describe(args, named)}"
            note(f"{number} {what}")
            call = op.op
            if options.side == "ours":
                try:
                    carrier = Carrier()
                    args, named, call = carrier.value(args), carrier.value(named), mine
                except (Untransferable, RuntimeError, OverflowError, ValueError):
                    continue
            row = one(call, args, named, ops.title(op), what, number)
            write(json.dumps(row) + "\n")


def work(rows, place, done, options, page, pipe):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    room = memory("VmSize") * 2**20 + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, interrupt)
    warnings.simplefilter("ignore")
    for at in range(place, len(rows)):

        def note(text, at=at):
            page.seek(0)
            page.write(f"{at} {text}".encode()[: len(page) - 1].ljust(len(page), b"\0"))

        def write(text):
            os.write(pipe, text.encode())

        note("0 start")
        run(rows[at], options, done if at == place else 0, note, write)


def watch(rows, options, out):
    page = mmap.mmap(-1, 1024)
    place = done = 0
    while place < len(rows):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                os.close(read)
                work(rows, place, done, options, page, write)
                status = 0
            except BaseException as e:
                os.write(write, f'{{"op": "broken", "words": "{type(e).__name__}"}}\n'.encode())
            finally:
                os._exit(status)
        os.close(write)
        last, since, silence = b"", time.monotonic(), SILENCE if options.side == "ours" else 3
        while True:
            if select.select([read], [], [], 0.25)[0]:
                chunk = os.read(read, 65536)
                if not chunk:
                    break
                out.write(chunk.decode(errors="replace"))
            if page[:] != last:
                last, since = page[:], time.monotonic()
            elif time.monotonic() - since > silence:
                os.kill(pid, signal.SIGKILL)
                since += 1000
        os.close(read)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status == 0:
            return
        at, number, words = page[:].rstrip(b"\0").decode(errors="replace").split(" ", 2)
        how = f"exit {status}" if status > 0 else signal.Signals(-status).name
        row = {"op": ops.title(rows[int(at)]), "n": int(number), "what": words, "kind": how}
        out.write(json.dumps({**row, "words": "", "mb": 0, "s": 99}) + "\n")
        place, done = (int(at), int(number)) if int(number) > 0 else (int(at) + 1, 0)
        if done == 0:
            print("cannot begin", row, flush=True)


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.extremes")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--side", default="ours", choices=("ours", "torch"))
    parser.add_argument("--out", required=True)
    parser.add_argument("--most", type=int, default=200)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--only")
    options = parser.parse_args()
    if options.only:
        options.only = {tuple(x) for x in json.loads(Path(options.only).read_text())}
    torch.set_num_threads(1)
    k, n = map(int, options.part.split("/"))
    with open(options.out, "a") as out:
        watch(list(ops.entries(options.names))[k::n], options, out)


if __name__ == "__main__":
    sys.exit(main())
