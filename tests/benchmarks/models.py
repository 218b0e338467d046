"""Whole models against torch: forward, a training step, and the memory of a process that trains.

python -m tests.benchmarks --models [WORD ...]
"""

import subprocess
import sys

from tests.benchmarks.machine import machine, machine_text
from tests.benchmarks.networks import NETWORKS
from tests.benchmarks.rows import Row, measure

BATCHES, STEPS = (1, 32), 4
AIM, MEMORY_AIM = 0.9, 0.6

MEMORY = """
import sys
import {module} as t
from tests.benchmarks.models import names_of
names = names_of({name!r}, {batch})(t)
t.set_num_threads(1)
for _ in range({steps}):
    names["step"]()
status = open("/proc/self/status").read()
print(*(int(status.split(word)[1].split()[0]) * 1024 for word in ("VmRSS:", "VmHWM:")))
"""


def names_of(name, batch):
    """A row's set-up: `forward` without and `step` with gradients and Adam."""

    def setup(t):
        t.manual_seed(0)
        net, inputs, loss = NETWORKS[name](t, batch)
        optimizer = t.optim.Adam(net.parameters(), lr=1e-4)

        def forward():
            with t.no_grad():
                net(*inputs)

        def step():
            optimizer.zero_grad()
            loss(net(*inputs)).backward()
            optimizer.step()

        return {"forward": forward, "step": step}

    return setup


def memory(module, name, batch):
    """(resident bytes after some steps, the most at any time) of a process of its own."""
    code = MEMORY.format(module=module, name=name, batch=batch, steps=STEPS)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr)
    return [int(word) for word in run.stdout.split()]


def models(words, say=print):
    """Prints a line per network and batch: ratios of forward, step, resident and peak memory."""
    import torch

    import rushlight

    say(machine_text(machine(torch)))
    say(f"{'':<38} {'batch':>5} {'forward':>8} {'step':>7} {'memory':>7} {'peak':>6}")
    missed = 0
    for name in NETWORKS:
        if words and not any(word in name for word in words):
            continue
        for batch in BATCHES:
            ratios = []
            for statement in ("forward()", "step()"):
                row = Row(statement, AIM, names_of(name, batch), name, rounds=3)
                ours, theirs = measure(row, [rushlight, torch])
                ratios.append(ours / theirs)
            mine, others = (memory(module, name, batch) for module in ("rushlight", "torch"))
            sizes = [a / b for a, b in zip(mine, others, strict=True)]
            missed += sum(r > AIM for r in ratios) + sum(s > MEMORY_AIM for s in sizes[:1])
            say(f"{name:<38} {batch:>5} {ratios[0]:>8.3f} {ratios[1]:>7.3f} {sizes[0]:>7.3f} "
                f"{sizes[1]:>6.3f}   {mine[0] / 1e6:.0f} of {others[0] / 1e6:.0f} MB")  # fmt: skip
    say(f"{missed} above the aims: {AIM} of the time, {MEMORY_AIM} of the memory")
