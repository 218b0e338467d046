"""Runs of several processes, ended at random moments, and what is left of them.

    python -m tests.distributed.left_behind --count 50 --seed 0

Each run has two ranks with a DataLoader worker each and shared memory, started by `rushlight
launch` or by multiprocessing.spawn; it gets Ctrl-C, SIGTERM, SIGKILL (the parent alone), or one of
its ranks is killed or raises. Afterwards no process, listening port, shared memory or temporary
file of the run may be there.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

ENDINGS = ("interrupt", "terminate", "kill", "kill a rank", "raise")
PROGRAM = """
import os, sys, time
import rushlight as torch
import rushlight.distributed as dist
from rushlight import multiprocessing
from rushlight.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, i):
        return torch.full((4,), float(i))

def work(rank, port=None):
    if port:
        os.environ.update(
            RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=port
        )
    dist.init_process_group("gloo")
    shared = torch.zeros(1000).share_memory_()
    raises = float(os.environ["RAISES_AT"])
    while True:
        for batch in DataLoader(Numbers(), batch_size=8, num_workers=1):
            dist.all_reduce(batch)
            shared[:4] += batch[0]
            if dist.get_rank() == 1 and time.time() > raises:
                raise ValueError("as was asked for")

if __name__ == "__main__":
    if "RANK" in os.environ:
        work(0)
    else:
        import socket
        with socket.create_server(("127.0.0.1", 0)) as s:
            port = str(s.getsockname()[1])
        multiprocessing.spawn(work, (port,), 2)
"""


def processes_of(mark):
    """pid -> command line of the processes with these bytes in their environment."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                ours = mark in file.read()
            with open(f"/proc/{pid}/stat") as file:
                alive = file.read().rpartition(")")[2].split()[0] not in "ZX"
            if ours and alive:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    found[int(pid)] = file.read().replace(b"\0", b" ").decode()
        except OSError:
            continue
    return found


def ranks_of(mark):
    return [pid for pid, line in processes_of(mark).items() if "worker" in line or "spawn" in line]


def one(how, ending, delay, folder):
    """What is left of one run, as words; empty where nothing is."""
    program, files = os.path.join(folder, "program.py"), os.path.join(folder, "files")
    os.makedirs(files, exist_ok=True)
    with open(program, "w") as file:
        file.write(PROGRAM)
    mark = f"left-behind-{os.getpid()}-{time.monotonic_ns()}"
    import rushlight

    env = {
        **os.environ, "TMPDIR": files, "LEFT_BEHIND": mark,
        "PYTHONPATH": os.path.dirname(os.path.dirname(rushlight.__file__)),
        "RAISES_AT": str(time.time() + delay if ending == "raise" else 1e12),
    }  # fmt: skip
    start = [sys.executable, "-m", "rushlight", "launch", "--nproc-per-node", "2"]
    command = [*start, program] if how == "launch" else [sys.executable, program]
    shared = set(os.listdir("/dev/shm"))
    run = subprocess.Popen(
        command, env=env, start_new_session=True, cwd=folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    time.sleep(delay)
    mark = mark.encode()
    if ending == "interrupt":
        os.killpg(run.pid, signal.SIGINT)
    elif ending == "terminate":
        run.terminate()
    elif ending == "kill":
        run.kill()
    elif ending == "kill a rank":
        for pid in [p for p in ranks_of(mark) if p != run.pid][:1] or [run.pid]:
            os.kill(pid, signal.SIGKILL)
    left = []
    try:
        run.communicate(timeout=45)
    except subprocess.TimeoutExpired:
        left.append("the run did not end")
    until = time.monotonic() + 10
    while (found := processes_of(mark)) and time.monotonic() < until:
        time.sleep(0.05)
    for pid, line in found.items():
        left.append(f"process {pid}: {line[:200]}")
        os.kill(pid, signal.SIGKILL)
    left += [f"file {name}" for name in os.listdir(files)]
    own = ("rushlight", "gloo")  # those of other programs come and go
    left += [f"/dev/shm/{n}" for n in set(os.listdir("/dev/shm")) - shared if n.startswith(own)]
    return left


def moments(count, seed):
    """(how it is started, how it ends, seconds until then), all pairs in turn."""
    chance = random.Random(seed)
    pairs = [(how, ending) for ending in ENDINGS for how in ("launch", "spawn")]
    return [(*pairs[i % len(pairs)], chance.uniform(0.0, 2.5)) for i in range(count)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    bad = 0
    for how, ending, delay in moments(options.count, options.seed):
        with tempfile.TemporaryDirectory() as folder:
            left = one(how, ending, delay, folder)
        bad += bool(left)
        print(f"{how}, {ending} after {delay:.2f} s: {'; '.join(left) or 'nothing'}", flush=True)
    print(f"{bad} of {options.count} runs left something behind")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
