"""A step of DistributedDataParallel, ours and torch's on Gloo, in turns; what it costs on one rank.

    python -m tests.benchmarks.ddp [--alone]

The worlds are those of tests/benchmarks/distributed.py; the network is the fifth document's.
"""

import os
import sys
import time

from tests.benchmarks.distributed import World, bytes_sent
from tests.benchmarks.training import STEP, cifar_net, step_of

ROUNDS, STEPS = 12, 3


def rank_main():
    """One rank: a line of input is a measurement, a line of output its seconds and bytes sent
    for one step."""
    library = __import__(os.environ["LIBRARY"])
    d = __import__(os.environ["LIBRARY"] + ".distributed").distributed
    library.set_num_threads(1)
    d.init_process_group("gloo")
    ddp = library.nn.parallel.DistributedDataParallel
    x, target = library.rand(64, 3, 32, 32), library.arange(64) % 10
    steps = {}
    for name, net in (("ddp", ddp(cifar_net(library))), ("plain", cifar_net(library))):
        loss, optimizer = library.nn.CrossEntropyLoss(), library.optim.SGD(net.parameters(), 0.01)
        steps[name] = step_of(net, loss, optimizer, x, target)
        steps[name]()
        steps[name]()
    print("ready", flush=True)
    for line in sys.stdin:
        step = steps[line.strip()]
        start, before = time.perf_counter(), bytes_sent()
        for _ in range(STEPS):
            step()
        found = time.perf_counter() - start, bytes_sent() - before
        print(*(value / STEPS for value in found), flush=True)
    d.destroy_process_group()


def best(measures, rounds=ROUNDS):
    """The best seconds of each, in turns."""
    found = [[measure() for measure in measures] for _ in range(rounds)]
    return [min(times) for times in zip(*found, strict=True)]


def main():
    from tests.benchmarks.__main__ import line, time_text

    def worlds(size, *libraries):
        return [World(library, size, "tests.benchmarks.ddp") for library in libraries]

    libraries = ["rushlight"] if "--alone" in sys.argv else ["rushlight", "torch"]
    two = worlds(2, *libraries)
    ours, *theirs = best([lambda w=w: w.measure("ddp")[0] for w in two])
    verdicts = [line(f"DDP, 2 ranks: {STEP}", ours, *theirs or [None], 0.8, time_text)]
    (one,) = worlds(1, "rushlight")
    names = "ddp", "plain"
    wrapped, plain = best([lambda n=n: one.measure(n)[0] for n in names], 5 * ROUNDS)
    verdicts.append(line("DDP on one rank, beside no DDP", wrapped, plain, 1.03, time_text))
    for each in [*two, one]:
        each.close()
    return "MISSED" in verdicts


if __name__ == "__main__":
    sys.exit(rank_main() if sys.argv[1:] == ["rank"] else main())
