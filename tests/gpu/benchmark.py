"""Timings on a GPU against the torch of the machine, side by side; written as JSON.

python -m tests.gpu.benchmark FILE
"""

import json
import sys
import time

import torch

import rushlight
from tests.gpu import models


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

    def in_tf32():
        library.backends.cuda.matmul.allow_tf32 = True
        product = exact @ exact
        library.backends.cuda.matmul.allow_tf32 = False
        return product

    exact = on_gpu(2048, 2048)
    yield "matmul 2048, tf32", 1.03, in_tf32
    layer = library.nn.Linear(1024, 1024).to("cuda")
    batch = on_gpu(512, 1024)
    yield "linear, F.relu, both ways", 1.0, lambda: functional.relu(layer(batch)).sum().backward()
    pair = library.nn.Sequential(layer, library.nn.ReLU(), library.nn.Linear(1024, 1024)).to("cuda")
    yield "Linear, ReLU, Linear, both ways", 0.85, lambda: pair(batch).sum().backward()
    image, weight = on_gpu(64, 32, 32, 32), on_gpu(32, 32, 5, 5)
    yield "conv2d 32 to 32, 5 x 5", 1.0, lambda: functional.conv2d(image, weight, padding=2)
    linalg, square = library.linalg, on_gpu(1024, 1024)
    symmetric, many = square @ square.T + 1024 * library.eye(1024).to("cuda"), on_gpu(1000, 16, 16)
    yield "solve, 1024 x 1024", 1.03, lambda: linalg.solve(square, square)
    yield (
        "solve_triangular, 1024 x 1024",
        1.03,
        lambda: linalg.solve_triangular(symmetric, square, upper=True),
    )
    yield "cholesky, 1024 x 1024", 1.03, lambda: linalg.cholesky(symmetric)
    yield "eigh, 1024 x 1024", 1.03, lambda: linalg.eigh(symmetric)
    yield "svd, 256 x 256", 1.03, lambda: linalg.svd(square[:256, :256])
    yield "svd of 1000, 16 x 16", 1.03, lambda: linalg.svd(many)
    parameters = [on_gpu(256, 256, requires_grad=True) for _ in range(100)]
    for p in parameters:
        p.grad = p.detach().clone()
    adam = library.optim.Adam(parameters)
    yield "Adam over 100 parameters", 0.3, adam.step
    yield "MLP step 10-5-1, batch 16", 0.35, models.training_step(library, models.mlp, (16, 10), 1)
    cifar = models.training_step(library, models.cnn, (64, 3, 32, 32), 10)
    yield "CIFAR step, batch 64", 0.35, cifar


def replicas():
    """DataParallel on one device against the bare module, both ours."""
    bare = models.cnn(rushlight).to("cuda")
    wrapped = rushlight.nn.DataParallel(bare, device_ids=[0])
    batch = rushlight.randn(64, 3, 32, 32, device="cuda")
    ours = best(rushlight, lambda: wrapped(batch).sum().backward())
    theirs = best(rushlight, lambda: bare(batch).sum().backward())
    return {"name": "DataParallel on one GPU", "ours": ours, "theirs": theirs, "target": 1.01}


def bandwidth():
    """What a copy of 1 GB reads and writes, in GB/s: the limit of the large rows."""
    there = rushlight.empty(1 << 28, device="cuda")
    return 2 * there.nbytes / best(rushlight, there.clone) / 1e3


def main():
    rows = []
    for (name, target, ours), (_, _, theirs) in zip(calls(rushlight), calls(torch), strict=True):
        row = {"name": name, "ours": best(rushlight, ours), "theirs": best(torch, theirs)}
        rows.append({**row, "target": target})
        print(f"{name:<32} {row['ours']:>10.1f} us {row['theirs']:>10.1f} us  target {target}")
    rows.append(replicas())
    print(f"{rows[-1]['name']:<32} {rows[-1]['ours'] / rows[-1]['theirs']:.3f} of the bare module")
    print(f"a copy moves {bandwidth():.0f} GB/s: 64 MB are read in {67.1e3 / bandwidth():.1f} us")
    with open(sys.argv[1], "w") as out:
        json.dump(rows, out)


if __name__ == "__main__":
    main()
