"""Torch's samples with one argument spoiled: another dtype, shape or type, a number out of range,
an argument too few or too many. No such call may end the process or hang.

python -m tests.oracle.mutations [names] [--calls N] [--seed S] [--compare]

With --compare torch is called too, and where one refuses and the other does not, or with another
type of error, or with another shape, dtype or value, a line says so: a list to read, not to pass.
"""

import argparse
import contextlib
import mmap
import os
import random
import resource
import select
import signal
import sys
import time
import traceback
import warnings

import torch

import rushlight
from tests.oracle import ops
from tests.oracle.campaign import describe, outcome, same_refusal
from tests.oracle.compare import Difference, same_outcome
from tests.oracle.transfer import Carrier, Untransferable

SILENCE = 20  # seconds after which a call hangs
MEMORY = 1 << 30  # bytes that calls may take
INTS = (-1, 0, 1, 2, 7, -100, 100000, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63), 2**64)
OTHERS = (None, "x", 2.5, 3, True, [1, 2])


def spoiled(value, draw):
    """What may stand in the place of an argument."""
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided:  # tests/sparse/test_every_call.py has them
            return list(OTHERS)
        return [*spoiled_tensors(value.detach()), *OTHERS]
    if isinstance(value, bool):
        return [not value, *OTHERS]
    if isinstance(value, int):
        return [*INTS, *OTHERS, [value], torch.tensor(value), torch.tensor([value, value])]
    if isinstance(value, float):
        return [float("nan"), float("inf"), -1.0, 0.0, 1e300, *OTHERS, torch.tensor(value)]
    if isinstance(value, list | tuple):
        items, kind = list(value), list if isinstance(value, list) else tuple
        made = [kind(), kind(items[:-1]), kind(items + items[-1:]), kind(items * 4), *OTHERS]
        for i, item in enumerate(items[:3]):
            choice = spoiled(item, draw)
            for other in draw.sample(choice, min(len(choice), 6)):
                made.append(kind([*items[:i], other, *items[i + 1 :]]))
        return made
    if isinstance(value, torch.dtype):
        return [torch.int64, torch.bool, torch.float16, *OTHERS]
    return list(OTHERS)


def spoiled_tensors(t):
    dtypes = (torch.int64, torch.int32, torch.bool, torch.float64, torch.float16, torch.bfloat16)
    made = [t.to(d) for d in dtypes if d != t.dtype]
    made += [t.unsqueeze(0), t[None].expand(2, *t.shape), t.flatten(), t.new_zeros(0)]
    made.append(t[(None,) * (8 - t.dim())])  # as many dimensions as there can be
    made += [torch.full_like(t, fill) for fill in (0, 100, -100)]
    if t.dtype.is_floating_point:
        made += [torch.full_like(t, fill) for fill in (float("nan"), float("inf"))]
    if t.dim():
        made += [t[..., :0], t.transpose(0, -1), t.flatten()[0] if t.numel() else t]
    for d in range(t.dim()):  # no elements, few or very many of them
        for n in (1, 2**40):
            shape = [n if n > 1 else size for size in t.shape]
            shape[d] = 0
            with contextlib.suppress(RuntimeError):  # more than 64 bits in all
                made.append(t.new_empty(shape))
    return made


def calls(sample, draw, most):
    """(args, kwargs), at most so many of those that one spoiled argument makes."""
    args, named = (sample.input, *sample.args), sample.kwargs
    made = [((*args, 1), named), ((*args, None), named), (args, {**named, "bogus": 1})]
    made.append((args[:-1], named))
    for i, value in enumerate(args):
        made += [((*args[:i], v, *args[i + 1 :]), named) for v in spoiled(value, draw)]
    for name, value in named.items():
        made += [(args, {**named, name: v}) for v in spoiled(value, draw)]
    return draw.sample(made, min(most, len(made)))


def run(op, options, done, note):
    """Makes the calls of an operation after the first `done`; yields differences."""
    call = ops.ours(op)
    draw = random.Random(f"{options.seed} {ops.title(op)}")
    number = 0
    for dtype in options.dtypes:
        if call is ops.ABSENT or dtype not in op.dtypes:
            continue
        samples = list(op.sample_inputs("cpu", dtype, requires_grad=False))
        for args, named in calls(draw.choice(samples), draw, options.calls):
            number += 1
            if number <= done:
                continue
            what = f"{dtype} {describe(args, named)}"
            try:
                carrier = Carrier()
                mine = carrier.value(args), carrier.value(named)
            except (
                Untransferable,
                RuntimeError,
                OverflowError,
            ):  # not a value that can be made here
                continue
            note(f"{number} ours {what}")
            ours = outcome(call, *mine)
            if isinstance(ours[0], rushlight.Tensor) and 0 < ours[0].numel() < 10000:
                ours[0].to_dense().tolist()  # reads all of it
            if not options.compare:
                continue
            note(f"{number} torch {what}")
            theirs = outcome(op.op, args, named)
            try:
                same_refusal(ours[1], theirs[1])
                if ours[1] is None:
                    values = op.name not in ops.UNWRITTEN | ops.OPEN_ORDER
                    same_outcome(ours[0], theirs[0], values=values, history=False)
            except Untransferable:
                continue
            except Difference as difference:
                yield f"{difference}\n    torch: {theirs[1] or 'a value'}\n    {what}"


def work(rows, place, done, options, page, pipe, run):
    """The rows from `place` on, in a process of its own, silent but for differences."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    if "asan" not in os.environ.get("LD_PRELOAD", ""):  # which has a limit of its own
        room = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + MEMORY
        resource.setrlimit(resource.RLIMIT_DATA, (room, room))
    if not options.verbose:
        os.dup2(quiet, 2)
    warnings.simplefilter("ignore")

    for at in range(place, len(rows)):

        def note(text, at=at):
            page.seek(0)
            page.write(f"{at} {text}".encode()[: len(page) - 1].ljust(len(page), b"\0"))

        note("0 start")
        for text in run(rows[at], options, done if at == place else 0, note):
            os.write(pipe, f"{ops.title(rows[at])}: {text}\n".encode())


def listen(pid, read, page):
    """Passes on what the process says until it ends or has been silent for too long."""
    last, since = b"", time.monotonic()
    while True:
        if select.select([read], [], [], 0.5)[0]:
            chunk = os.read(read, 65536)
            if not chunk:
                break
            sys.stdout.write(chunk.decode(errors="replace"))
            sys.stdout.flush()
        if page[:] != last:
            last, since = page[:], time.monotonic()
        elif time.monotonic() - since > SILENCE:
            os.kill(pid, signal.SIGKILL)
            since += 1000
    os.close(read)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def watch(rows, options, run=run):
    """Runs all rows, beginning again after each crash or hang; yields a line for each of these."""
    page = mmap.mmap(-1, 512)
    place = done = 0
    while place < len(rows):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                os.close(read)
                work(rows, place, done, options, page, write, run)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(write)
        status = listen(pid, read, page)
        if status == 0:
            return
        at, number, words = page[:].rstrip(b"\0").decode(errors="replace").split(" ", 2)
        how = f"exit {status}" if status > 0 else signal.Signals(-status).name
        yield f"{ops.title(rows[int(at)])}: {how} in {words}"
        # A row that cannot even begin is left out.
        place, done = (int(at), int(number)) if int(number) > 0 else (int(at) + 1, 0)


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.mutations")
    parser.add_argument("names", nargs="*", help="names or patterns; all operations if none")
    parser.add_argument("--calls", type=int, default=100, help="of an operation and a dtype")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compare", action="store_true", help="call torch too")
    parser.add_argument("--verbose", action="store_true", help="keep what calls write to stderr")
    parser.add_argument("--dtypes", nargs="*", default=["float32", "int64"])
    options = parser.parse_args()
    options.dtypes = [getattr(torch, name) for name in options.dtypes]
    torch.set_num_threads(1)
    bad = 0
    for end in watch(list(ops.entries(options.names)), options):
        print(end, flush=True)
        bad += " in torch " not in end
    print(f"{bad} calls ended the process or hung")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
