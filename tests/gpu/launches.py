"""Kernels of a training step, ours and torch's: on a GPU both as CUPTI sees them, through
torch.profiler, which sees all of the process; on the emulator ours, as it counts them.

python -m tests.gpu.launches [FILE]     prints a table; writes it as JSON
"""

import collections
import importlib.util
import json
import sys

import rushlight
from tests.emulator import EMULATED, counted, name_libraries
from tests.gpu import models

OTHERS = ("Memcpy", "Memset")  # copies and fills by the driver
STEPS = 5  # counted together


def training_steps(library):
    """(name, a step) of what is counted."""
    optim = library.optim
    batch = 1 if EMULATED else 64
    yield "MLP 10-5-1, SGD", models.training_step(library, models.mlp, (16, 10), 1)
    yield (
        "MLP 10-5-1, Adam",
        models.training_step(library, models.mlp, (16, 10), 1, lambda p: optim.Adam(p)),
    )
    cnn = (library, models.cnn, (batch, 3, 32, 32), 10)
    yield "CNN of the fifth document, SGD", models.training_step(*cnn)
    yield (
        "CNN of the fifth document, momentum",
        models.training_step(*cnn, lambda p: optim.SGD(p, lr=1e-3, momentum=0.9)),
    )


def by_emulator(step):
    """(kernels, copies and fills, names) of a step."""
    rushlight.cuda.synchronize()
    names = ("launches", "library_calls", "copies")
    before = [counted(name) for name in names]
    for _ in range(STEPS):
        step()
    rushlight.cuda.synchronize()
    kernels, calls, copies = (counted(n) - b for n, b in zip(names, before, strict=True))
    kinds = {"kernels of ours": kernels, "calls of NVIDIA's libraries": calls}
    return (kernels + calls) / STEPS, copies / STEPS, {k: n / STEPS for k, n in kinds.items()}


def by_cupti(step):
    import torch
    from torch.profiler import ProfilerActivity, profile

    rushlight.cuda.synchronize()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as prof:
        for _ in range(STEPS):
            step()
        rushlight.cuda.synchronize()
        torch.cuda.synchronize()
    on_gpu = torch.autograd.DeviceType.CUDA
    names = collections.Counter(e.name for e in prof.events() if e.device_type == on_gpu)
    others = sum(n for name, n in names.items() if name.startswith(OTHERS))
    kernels = {k: n / STEPS for k, n in names.most_common() if not k.startswith(OTHERS)}
    return sum(kernels.values()), others / STEPS, kernels


def peer():
    """torch, if it has CUDA; its profiler then counts."""
    if EMULATED or not importlib.util.find_spec("torch"):
        return None
    import torch

    return torch if torch.cuda.is_available() else None


def count(library, step_of, counter):
    rows = {}
    for name, step in step_of(library):
        counter(step)  # a first time, for what is made or chosen once
        rows[name] = counter(step)
    return rows


def main():
    name_libraries()
    torch = peer()
    if torch is None and not EMULATED:
        print("not counted: that needs a torch with CUDA, whose profiler counts")
        return 1
    counter = by_cupti if torch else by_emulator
    ours = count(rushlight, training_steps, counter)
    theirs = count(torch, training_steps, counter) if torch else {}
    rows = []
    print(f"{'of a step':<38}{'kernels':>9}{'torch':>8}{'ratio':>7}{'copies':>9}{'torch':>8}")
    for name, (kernels, copies, kinds) in ours.items():
        row = {"name": name, "ours": kernels, "copies": copies, "kernels": kinds}
        other = theirs.get(name)
        row |= {"theirs": other[0], "their_copies": other[1]} if other else {}
        rows.append(row)
        words = f"{other[0]:>8.1f}{kernels / other[0]:>7.2f}" if other else f"{'-':>8}{'-':>7}"
        last = f"{other[1]:>8.1f}" if other else f"{'-':>8}"
        print(f"{name:<38}{kernels:>9.1f}{words}{copies:>9.1f}{last}")
    for row in rows:
        print(f"\n{row['name']}:")
        for kind, number in list(row["kernels"].items())[:25]:
            print(f"{number:>7.1f}  {kind[:90]}")
    seen = all(row["ours"] > 0 for row in rows)
    more = [r["name"] for r in rows if r.get("theirs") and r["ours"] > r["theirs"]]
    words = f"; more than torch's: {', '.join(more)}" if more else ""
    print(f"\n{len(rows)} training steps counted{words}" if seen else "\nCUPTI saw none of ours")
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w") as out:
            json.dump(rows, out, indent=1)
    return not seen


if __name__ == "__main__":
    sys.exit(main())
