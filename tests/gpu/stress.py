"""Streams that use each other's memory, in random sizes: values are wrong where memory is used
again too early. Rounds are made of whole numbers, so every element of every result is exact.

python -m tests.gpu.stress [--seed N] [--rounds N] [--threads N] [--without-record-stream]

Without record_stream it must fail: that shows that it can (on the emulator with
RUSHLIGHT_EMULATED_LAZY=1, where streams do nothing before the host waits for them).
"""

import argparse
import random
import sys
import threading
import time

import rushlight as torch
from tests.emulator import EMULATED

LARGEST = 1 << 12 if EMULATED else 1 << 22
NO_RECORD = []  # filled: record_stream is left out


def record(tensor, stream):
    if not NO_RECORD:
        tensor.record_stream(stream)


class Worker:
    """One thread's streams, and what it has to check."""

    def __init__(self, seed, number):
        self.random = random.Random(f"{seed} {number}")
        self.device = number % torch.cuda.device_count()
        self.home, self.side = (torch.cuda.Stream(self.device) for _ in range(2))
        self.wrong = []
        with torch.cuda.stream(self.home):
            self.busy = torch.zeros(16 if EMULATED else 1 << 24, device=f"cuda:{self.device}")

    def size(self):
        return int(LARGEST ** self.random.uniform(0.3, 1.0))

    def keep_busy(self, stream):
        """Work that holds up what the stream is given next, for up to a few milliseconds."""
        with torch.cuda.stream(stream):
            for _ in range(self.random.randrange(2 if EMULATED else 30)):
                self.busy.mul_(1.0)

    def scribble(self, stream, sizes):
        """Takes memory of about these sizes and writes to it, as the stream's next work."""
        with torch.cuda.stream(stream):
            for size in sizes:
                for _ in range(self.random.randrange(1, 4)):
                    torch.full((size,), -1.0, device=f"cuda:{self.device}")

    def lend(self, lender, user):
        """Tensors of one stream, used late on another, dropped at once; (result, value) of each."""
        results, sizes = [], []
        for _ in range(self.random.randrange(1, 4)):
            value, size = float(self.random.randrange(1, 1000)), self.size()
            host = torch.full((size,), value)
            if self.random.random() < 0.7:
                host = host.pin_memory()
            with torch.cuda.stream(lender):
                batch = host.to(f"cuda:{self.device}", non_blocking=True) * 2
            del host  # pinned memory goes while the copy may not have begun
            user.wait_stream(lender)
            self.keep_busy(user)
            with torch.cuda.stream(user):
                view = batch[size // 3 :] if self.random.random() < 0.3 else batch
                results.append((view + 1, 2 * value + 1))
            record(view, user)
            del batch, view
            sizes.append(size)
        self.scribble(lender, sizes)
        return results

    def round(self):
        pairs = [(self.side, self.home), (self.home, self.side)]  # a prefetcher's, and back
        self.random.shuffle(pairs)
        results = [result for lender, user in pairs for result in self.lend(lender, user)]
        waits = [self.home, self.side]
        self.random.shuffle(waits)
        for stream in waits:
            stream.synchronize()
        for result, value in results:
            low, high = result.min().item(), result.max().item()
            if not low == high == value:
                self.wrong.append(f"{result.numel()} x {value}: {low} to {high}")
        results.clear()

    def run(self, rounds):
        try:
            for _ in range(rounds):
                self.round()
        except Exception as error:
            self.wrong.append(f"{type(error).__name__}: {error}")


def run(seed, rounds, threads=1):
    """Raises AssertionError where a value is wrong or memory is not given back."""
    before = [torch.cuda.memory_allocated(d) for d in range(torch.cuda.device_count())]
    start = time.monotonic()
    workers = [Worker(seed, number) for number in range(threads)]
    running = [threading.Thread(target=w.run, args=(rounds,)) for w in workers]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    wrong = [words for w in workers for words in w.wrong]
    assert not wrong, f"seed {seed}: {len(wrong)} wrong, the first: {wrong[0]}"
    workers.clear()
    torch.cuda.synchronize()
    after = [torch.cuda.memory_allocated(d) for d in range(torch.cuda.device_count())]
    assert after == before, f"seed {seed}: memory {before} became {after}"
    seconds = time.monotonic() - start
    return f"seed {seed}, {threads} x {rounds} rounds right in {seconds:.1f} s"


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.gpu.stress")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--without-record-stream", action="store_true", help="it must fail then")
    options = parser.parse_args()
    NO_RECORD.extend([True] * options.without_record_stream)
    print(f"seed {options.seed}", flush=True)
    try:
        print(run(options.seed, options.rounds, options.threads))
    except AssertionError as error:
        print(error)
        if not options.without_record_stream:
            return 1
        print("caught: without record_stream values are wrong, as they must be")
        return 0
    return int(options.without_record_stream and print("NOT CAUGHT: it cannot fail") is None)


if __name__ == "__main__":
    sys.exit(main())
