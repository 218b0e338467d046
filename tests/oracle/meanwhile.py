"""What another thread may do to the operands of an operation while that computes, at each moment in
which it may: torch's samples, and each time the lock is given up once, one of the operands is given
other data, or its memory is taken away. No such call may read or write memory that is not its own.

python -m tests.oracle.meanwhile [names] [--samples N] [--moments N] [--part K/N] [--seed S]

Each operation runs in a process of its own; one that dies is told with its last call. A wrong
access ends a process for sure only where an allocator watches: AddressSanitizer, or one that gives
each block pages of its own.
"""

import argparse
import faulthandler
import mmap
import os
import random
import sys
import warnings

import torch

import rushlight
from tests.hostile.meanwhile import CHANGES, called
from tests.oracle import ops
from tests.oracle.transfer import Carrier, Untransferable

MOST_BYTES = 4096  # of what a process writes of itself


def apart(value, seen, draw, wants_grad=True):
    """The same arguments with tensors of their own memory, some of them transposed."""
    if isinstance(value, rushlight.Tensor):
        if id(value) not in seen:
            mine = value.detach()
            if mine.dim() > 1 and draw.random() < 0.5:
                mine = mine.transpose(0, -1).contiguous().transpose(0, -1)
            else:
                mine = mine.contiguous()
            mine = mine.clone()
            if wants_grad and (mine.is_floating_point() or mine.is_complex()):
                mine.requires_grad_()
            seen[id(value)] = mine
        return seen[id(value)]
    if isinstance(value, dict):
        return {key: apart(item, seen, draw, wants_grad) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(apart(item, seen, draw, wants_grad) for item in value)
    return value


def run(op, options, note):
    draw = random.Random(f"{options.seed} {ops.title(op)}")
    dtypes = [
        d for d in (torch.float32, torch.int64, torch.complex64, torch.bool) if d in op.dtypes
    ]
    if ops.ours(op) is ops.ABSENT or not dtypes:
        return
    samples = list(op.sample_inputs("cpu", dtypes[0], requires_grad=False))
    forms = {"": ops.ours(op), " in place": ops.variant(op.inplace_variant)}
    for number in sorted(draw.sample(range(len(samples)), min(options.samples, len(samples)))):
        sample = samples[number]
        try:
            carrier = Carrier()
            args = carrier.value((sample.input, *sample.args))
            named = carrier.value(sample.kwargs)
        except (Untransferable, RuntimeError, OverflowError):
            continue
        for form, call in forms.items():
            if call:
                what = f"sample {number}{form}"
                every_moment(call, (args, named), not form, options, draw, what, note)


def every_moment(call, arguments, wants_grad, options, draw, what, note):
    def attempt(at, change):
        seen = {}
        args, named = (apart(each, seen, draw, wants_grad) for each in arguments)
        return called(lambda *_: call(*args, **named), list(seen.values()), at, change, draw)

    note(f"{what} as it is")
    moments = list(range(attempt(-1, None)))
    for at in sorted(draw.sample(moments, min(options.moments, len(moments)))):
        for change in CHANGES:
            note(f"{what}, {change} at {at} of {len(moments)}")
            for _ in range(3):
                attempt(at, change)


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.meanwhile")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--moments", type=int, default=12)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--here", action="store_true", help="in this process, for a debugger")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    faulthandler.enable()
    part, parts = map(int, options.part.split("/"))
    rows = ops.entries(options.names)[part::parts]
    died = 0
    for number, op in enumerate(rows):
        print(f"\r{number} of {len(rows)} {ops.title(op):50}", end="", file=sys.stderr, flush=True)
        last = mmap.mmap(-1, MOST_BYTES)

        def note(text, last=last):
            last[:] = text.encode()[:MOST_BYTES].ljust(MOST_BYTES, b"\0")

        if options.here:
            run(op, options, note)
            continue
        sys.stdout.flush()
        child = os.fork()
        if not child:
            faulthandler.dump_traceback_later(120, exit=True)
            try:
                run(op, options, note)
            except BaseException as error:
                print(ops.title(op), "stopped:", repr(error)[:300], flush=True)
                os._exit(0)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status:
            died += 1
            print(f"{ops.title(op)}: {status} in {last[:].rstrip(bytes(1)).decode()}", flush=True)
    print(f"{len(rows)} operations, {died} ended their process", flush=True)
    return died > 0


if __name__ == "__main__":
    sys.exit(main())
