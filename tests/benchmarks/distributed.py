"""Collectives between processes, ours and torch's gloo side by side.

    python -m tests.benchmarks.distributed [--ranks 2 4] [--alone] [--bytes] [WORDS ...]

Both worlds run at the same time, each process in a session of its own as under torchrun (the
kernel shares the CPU by session); one measures while the other waits for its input. Rounds take
turns, and the best of each counts: on a machine that does other work, the others measure that.
"""

import argparse
import os
import pathlib
import socket
import subprocess
import sys
import time

# name: (statement, bytes of the tensor, calls a round, rounds, target by ranks)
ROWS = {
    "all_reduce, 4 KB": ("d.all_reduce(x)", 4 << 10, 200, 12, {2: 1.0, 4: 1.0}),
    "all_reduce, 1 MB": ("d.all_reduce(x)", 1 << 20, 30, 12, {2: 1.0, 4: 1.0}),
    "all_reduce, 64 MB": ("d.all_reduce(x)", 64 << 20, 2, 10, {2: 1.2, 4: 1.6}),
    "broadcast, 4 KB": ("d.broadcast(x, 0)", 4 << 10, 200, 8, {}),
    "barrier": ("d.barrier()", 4, 200, 8, {}),
    "send and recv, 4 KB": (
        "d.send(x, 1) if r == 0 else d.recv(x, 0) if r == 1 else None", 4 << 10, 200, 8, {}
    ),
    "all_gather_into_tensor, 1 MB": (
        "d.all_gather_into_tensor(out, x)", 1 << 20, 20, 8, {}
    ),
    "reduce_scatter_tensor, 1 MB": ("d.reduce_scatter_tensor(y, x)", 1 << 20, 20, 8, {}),
}  # fmt: skip

PIPES = {
    "text": True, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE,
    "stderr": subprocess.DEVNULL,
    "start_new_session": True,
    "cwd": pathlib.Path(__file__).parent.parent.parent,
}  # fmt: skip


def bytes_sent():
    """What the TCP connections of this process have sent, as far as it has arrived."""
    total = 0
    for fd in map(int, os.listdir("/proc/self/fd")):
        try:
            if not os.readlink(f"/proc/self/fd/{fd}").startswith("socket:"):
                continue
            with socket.socket(fileno=os.dup(fd)) as s:
                info = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 128)
        except OSError:  # of another kind
            continue
        total += int.from_bytes(info[120:128], sys.byteorder)  # tcpi_bytes_acked
    return total


def rank_main():
    """One rank: a line of input is a measurement, a line of output its seconds and bytes sent for
    one call."""
    library = __import__(os.environ["LIBRARY"])
    d = __import__(os.environ["LIBRARY"] + ".distributed").distributed
    library.set_num_threads(1)
    d.init_process_group("gloo")
    r, size = d.get_rank(), d.get_world_size()
    print("ready", flush=True)
    for line in sys.stdin:
        statement, nbytes, calls, _, _ = ROWS[line.strip()]
        x = library.zeros(nbytes // 4)
        out, y = library.zeros(size * len(x)), library.zeros(len(x) // size)
        scope = {"d": d, "r": r, "x": x, "out": out, "y": y, "calls": calls}
        exec(f"def f():\n for _ in range(calls):\n  {statement}", scope)
        f = scope.pop("f")  # no circle that would keep the tensors
        if nbytes < 1 << 24:
            f()
        d.barrier()
        start, before = time.perf_counter(), bytes_sent()
        f()
        d.barrier()
        found = time.perf_counter() - start, bytes_sent() - before
        print(*(value / calls for value in found), flush=True)
    d.destroy_process_group()


class World:
    def __init__(self, library, size, module="tests.benchmarks.distributed"):
        with socket.create_server(("127.0.0.1", 0)) as s:
            port = s.getsockname()[1]
        start = time.perf_counter()
        self.ranks = []
        for rank in range(size):
            env = {
                **os.environ, "LIBRARY": library, "RANK": str(rank), "WORLD_SIZE": str(size),
                "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1",
            }  # fmt: skip
            command = [sys.executable, "-W", "ignore", "-m", module, "rank"]
            self.ranks.append(subprocess.Popen(command, env=env, **PIPES))
        for each in self.ranks:
            assert each.stdout.readline() == "ready\n"
        self.start = time.perf_counter() - start

    def measure(self, name):
        for each in self.ranks:
            each.stdin.write(name + "\n")
            each.stdin.flush()
        found = [tuple(map(float, each.stdout.readline().split())) for each in self.ranks]
        return max(seconds for seconds, _ in found), max(sent for _, sent in found)

    def look(self):
        """(sockets, megabytes of memory of its own) of rank 0."""
        files = f"/proc/{self.ranks[0].pid}/fd"
        sockets = sum("socket:" in os.readlink(f"{files}/{fd}") for fd in os.listdir(files))
        with open(f"/proc/{self.ranks[0].pid}/smaps_rollup") as file:
            private = sum(int(line.split()[1]) for line in file if line.startswith("Private"))
        return sockets, private / 1000

    def close(self):
        for each in self.ranks:
            each.stdin.close()
        for each in self.ranks:
            each.wait(30)
            each.stdout.close()


def main():
    from tests.benchmarks.__main__ import line, time_text

    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="*")
    parser.add_argument("--ranks", nargs="+", type=int, default=[2, 4])
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--bytes", action="store_true")
    options = parser.parse_args()
    libraries = ["rushlight"] + ([] if options.alone else ["torch"])
    verdicts = []
    for size in options.ranks:
        worlds = [World(library, size) for library in libraries]
        for name, (*_, rounds, targets) in ROWS.items():
            if options.words and not any(word in name for word in options.words):
                continue
            best: list = [[] for _ in worlds]
            for _ in range(rounds):
                for world, times in zip(worlds, best, strict=True):
                    times.append(world.measure(name))
            seconds = [min(seconds for seconds, _ in times) for times in best]
            ours, theirs = seconds[0], seconds[1] if len(best) > 1 else None
            target = targets.get(size, "-")
            limit = target if targets else float("inf")
            verdicts.append(line(f"{name}, {size} ranks", ours, theirs, limit, time_text))
            if options.bytes:
                sent = [f"{library} {max(s for _, s in times):.0f}"
                        for library, times in zip(libraries, best, strict=True)]  # fmt: skip
                print(f"    bytes that a rank sends: {', '.join(sent)}", flush=True)
        for library, world in zip(libraries, worlds, strict=True):
            sockets, memory = world.look()
            words = f"rank 0 has {sockets} sockets and {memory:.0f} MB of its own"
            print(f"{library}, {size} ranks: start {world.start:.2f} s, {words}", flush=True)
            world.close()
    return "MISSED" in verdicts


if __name__ == "__main__":
    sys.exit(rank_main() if sys.argv[1:] == ["rank"] else main())
