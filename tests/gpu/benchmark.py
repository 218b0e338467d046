"""Timings on a GPU against the torch of the machine, side by side; written as JSON.

python -m tests.gpu.benchmark FILE
"""

import json
import sys
import time

import torch

import rushlight


def best(library, call, repeat=20, rounds=7):
    """Microseconds of a call, the least of some rounds that each end with a synchronisation."""
    times = []
    for _ in range(rounds + 1):
        library.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        library.cuda.synchronize()
        times.append((time.perf_counter() - start) / repeat)
    return min(times[1:]) * 1e6


def calls(library):
    """(name, target, call) of one library."""
    functional = library.nn.functional

    def on_gpu(*shape, **options):
        return library.randn(*shape, device="cuda", **options)

    small, large = on_gpu(4, 4), on_gpu(1 << 24)
    yield "small add, 4 x 4", 0.4, lambda: small + small
    yield "add, 64 MB", 1.0, lambda: large + large
    yield "sum, 64 MB", 1.0, lambda: large.sum()
    scores = on_gpu(8192, 1000, requires_grad=True)
    classes = library.randint(0, 1000, (8192,), device="cuda")
    yield "softmax, 8192 x 1000", 1.0, lambda: scores.detach().softmax(-1)
    yield (
        "cross entropy, both ways",
        0.4,
        lambda: functional.cross_entropy(scores, classes).backward(),
    )
    for dtype in ("float32", "bfloat16"):
        a = on_gpu(2048, 2048).to(getattr(library, dtype))
        yield f"matmul 2048, {dtype}", 1.03, lambda a=a: a @ a
    layer = library.nn.Linear(1024, 1024).to("cuda")
    batch = on_gpu(512, 1024)
    yield "linear and relu, both ways", 0.85, lambda: functional.relu(layer(batch)).sum().backward()
    image, weight = on_gpu(64, 32, 32, 32), on_gpu(32, 32, 5, 5)
    yield "conv2d 32 to 32, 5 x 5", 1.0, lambda: functional.conv2d(image, weight, padding=2)
    parameters = [on_gpu(256, 256, requires_grad=True) for _ in range(100)]
    for p in parameters:
        p.grad = p.detach().clone()
    adam = library.optim.Adam(parameters)
    yield "Adam over 100 parameters", 0.3, adam.step


def main():
    rows = []
    for (name, target, ours), (_, _, theirs) in zip(calls(rushlight), calls(torch), strict=True):
        row = {"name": name, "ours": best(rushlight, ours), "theirs": best(torch, theirs)}
        rows.append({**row, "target": target})
        print(f"{name:<32} {row['ours']:>10.1f} us {row['theirs']:>10.1f} us  target {target}")
    with open(sys.argv[1], "w") as out:
        json.dump(rows, out)


if __name__ == "__main__":
    main()
