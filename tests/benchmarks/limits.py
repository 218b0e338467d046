"""What a row cannot be quicker than, measured in the same run: its limit.

Memory: a copy that moves as many bytes. Products: the multiplications of float32 that a core does
in registers (peak.cpp, where there is a compiler). Small calls: CPython's own call of the same form
on complex numbers, which looks up, calls and makes an object, but has no tensor to make and nothing
to compute.
"""

import itertools
import math
import os
import subprocess
import tempfile
import time
from functools import cache

ROUNDS = 7


def _best(call, clock=time.thread_time):
    times = []
    for _ in range(ROUNDS):
        start = clock()
        call()
        times.append(clock() - start)
    return min(times)


def moving(size):
    """Seconds in which a copy reads and writes `size` bytes together."""

    @cache
    def limit(t):
        x = t.ones(size // 8)
        y, count = t.empty(size // 8), max(1, (1 << 24) // size)

        def copies():
            for _ in itertools.repeat(None, count):
                y.copy_(x)

        return _best(copies) / count

    return limit


@cache
def peak():
    """FLOP/s of one core in registers; None where nothing compiles the program."""
    source = os.path.join(os.path.dirname(__file__), "peak.cpp")
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "peak")
        options = ["-O3", "-march=native", "-ffp-contract=fast"]
        try:
            subprocess.run(["c++", *options, source, "-o", program], check=True,
                           capture_output=True)  # fmt: skip
        except (OSError, subprocess.CalledProcessError):
            return None
        run = subprocess.run([program], check=True, capture_output=True, text=True)
    return 1e9 * float(run.stdout)


def multiplying(products, threads=1):
    """Seconds of so many multiplications, each with its addition."""

    def limit(t):
        return 2 * products / peak() / threads if peak() else None

    return limit


def calling(statement):
    """Seconds of a statement on z, a complex number, and m, the module math."""

    @cache
    def limit(t):
        scope = {"repeat": itertools.repeat}
        exec(f"def f(n, z, m):\n for _ in repeat(None, n):\n  {statement}", scope)
        exec("def nothing(n):\n for _ in repeat(None, n):\n  pass", scope)
        count = 100_000
        called = _best(lambda: scope["f"](count, 1.5 + 2j, math))
        return (called - _best(lambda: scope["nothing"](count))) / count

    return limit


def writing(size):
    """Seconds of writing so many bytes to a new file."""

    @cache
    def limit(t):
        data = memoryview(bytearray(size))
        with tempfile.TemporaryDirectory() as folder:

            def write():
                with open(os.path.join(folder, "data"), "wb", buffering=0) as file:
                    file.write(data)

            return _best(write)

    return limit
