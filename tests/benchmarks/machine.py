"""The machine that a table was measured on: its name, and what it does at most in this run."""

import platform
import time


def processor():
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    return platform.processor()


def best(call, rounds=5):
    times = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def machine(t):
    """The name, and one thread's peak: FLOP/s of a product of 1024, bytes/s of a copy of 64 MB."""
    t.set_num_threads(1)
    a = t.rand(1024, 1024)
    x, y = t.ones(1 << 24), t.ones(1 << 24)
    return {
        "processor": processor(),
        "python": platform.python_version(),
        "gflops": round(2 * 1024**3 / best(lambda: t.mm(a, a)) / 1e9, 1),
        "gbytes": round(2 * 4 * (1 << 24) / best(lambda: y.copy_(x)) / 1e9, 1),
    }


def machine_text(facts):
    return (f"{facts['processor']}, Python {facts['python']}, one thread: "
            f"{facts['gflops']} GFLOP/s (a float32 product of 1024), "
            f"{facts['gbytes']} GB/s (a copy of 64 MB)")  # fmt: skip
