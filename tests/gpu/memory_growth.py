"""Memory statistics over 1000 training steps: nothing may be left behind by a step.

python -m tests.gpu.memory_growth [STEPS]     prints a row for each tenth; fails where one grows
"""

import gc
import os
import random
import resource
import sys

import rushlight as torch
from tests.emulator import EMULATED, counted, name_libraries
from tests.gpu import models

SIZES = (16, 24, 64)  # of batches


class Training:
    """A network, and everything about a step that takes memory, events or streams."""

    def __init__(self):
        make, self.shape, classes = (
            (models.mlp, (10,), 1) if EMULATED else (models.cnn, (3, 32, 32), 10)
        )
        self.model = make(torch).to("cuda")
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-4)
        self.scaler = torch.amp.GradScaler("cuda")
        self.classes, self.random = classes, random.Random(0)
        self.streams = set()
        self.last = None

    def batch(self):
        """From pinned memory, on a stream of its own, as a prefetcher brings it."""
        size, home, side = self.random.choice(SIZES), torch.cuda.current_stream(), None
        side = torch.cuda.Stream()  # a new one each step: they come from a pool
        self.streams.add(side.cuda_stream)
        with torch.cuda.stream(side):
            host = torch.randn(size, *self.shape).pin_memory()
            inputs = host.to("cuda", non_blocking=True)
            targets = torch.randn(size, self.classes, device="cuda")
        home.wait_stream(side)
        for tensor in (inputs, targets):
            tensor.record_stream(home)
        return inputs, targets

    def step(self, number):
        inputs, targets = self.batch()
        self.optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=number % 2 == 0):
            loss = torch.nn.functional.mse_loss(self.model(inputs).float(), targets)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        targets.flatten().sort().values.cumsum(0)
        self.last = torch.cuda.Event()
        self.last.record()
        if number % 10 == 9:
            self.last.synchronize()
            assert loss.item() == loss.item() and inputs.nonzero().numel() > 0


def read(training):
    """One row: what is in use when everything that was given to the GPU is done."""
    gc.collect()
    torch.cuda.synchronize()
    stats = torch.cuda.memory_stats()
    free, total = torch.cuda.mem_get_info()
    with open("/proc/self/statm") as file:
        resident = int(file.read().split()[1]) * resource.getpagesize()
    row = {
        "allocated": stats["allocated_bytes.all.current"],
        "blocks": stats["allocation.all.current"],
        "reserved": stats["reserved_bytes.all.current"],
        "of driver": total - free,
        "host": resident,
        "files": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
        "streams": len(training.streams),
    }
    if EMULATED:
        row |= {"events": counted("events"), "pinned": counted("pinnings")}
    return row


def judge(rows):
    """What has grown: (words), of rows after the first, in which caches fill."""
    first, last, half = rows[1], rows[-1], len(rows) // 2
    for name in ("allocated", "blocks", "files", "threads"):
        if last[name] > first[name]:
            yield f"{name}: {first[name]} became {last[name]}"
    for name in ("reserved", "of driver", "host"):  # in large pieces, by the driver's choice
        early, late = (max(r[name] for r in part) for part in (rows[1:half], rows[half:]))
        if late > early + (8 << 20) + early // 20:
            yield f"{name}: {early >> 20} MiB became {late >> 20} MiB"
    for name in {"events", "pinned"} & set(first):
        if last[name] > first[name] + 40:  # those of pinned blocks that are still being read
            yield f"{name}: {first[name]} became {last[name]}"
    if last["streams"] > 32:
        yield f"{last['streams']} streams, not the 32 of the pool"


def main():
    name_libraries()
    steps = max(20, int(sys.argv[1])) if len(sys.argv) > 1 else 1000
    torch.manual_seed(0)
    training, rows = Training(), []
    for number in range(steps):
        training.step(number)
        if number == 0:
            print("step " + "".join(f"{name:>12}" for name in read(training)))
        if (number + 1) % (steps // 10) == 0:
            rows.append(read(training))
            print(f"{number + 1:<5}" + "".join(f"{v:>12}" for v in rows[-1].values()), flush=True)
    found = list(judge(rows))
    print("\n".join(found) or f"nothing has grown in {steps} steps")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
