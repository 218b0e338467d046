"""`python -m tests.oracle [--modules | --optimizers | --meta] [--limit N] [--part K/N] [names]`.

A table with a line for each row of torch's operations, modules or optimizers, then one total line.
"""

import argparse
import functools
import sys

import torch

import rushlight
from tests.oracle import meta, modules, ops, optimizers
from tests.oracle.absent import reason
from tests.oracle.campaign import run
from tests.oracle.transfer import DEVICE


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.oracle")
    parser.add_argument("names", nargs="*", help="names or patterns (nn.functional.*); all if none")
    parser.add_argument("--modules", action="store_true", help="modules instead of operations")
    parser.add_argument("--optimizers", action="store_true", help="optimizers instead")
    parser.add_argument("--meta", action="store_true", help="shapes and dtypes alone, on meta")
    parser.add_argument("--limit", type=int, help="at most so many samples for each dtype")
    parser.add_argument("--dtypes", help="of operations, comma-separated: complex64,uint8")
    parser.add_argument(
        "--absent", action="store_true", help="name what rushlight does not have, and why"
    )
    parser.add_argument("--all-failures", action="store_true", help="not only the first of each op")
    parser.add_argument("--failed", action="store_true", help="leave out the ops that pass")
    parser.add_argument("--part", default="1/1", help="K/N: each N-th row, from the K-th on")
    parser.add_argument("--device", default="cpu", help="where our operands are; torch's: the CPU")
    options = parser.parse_args()
    DEVICE[0] = rushlight.device(options.device)
    torch.set_num_threads(1)
    table = modules if options.modules else optimizers if options.optimizers else ops
    table = meta if options.meta else table
    judge = run if table is ops else table.run
    if options.dtypes and table is ops:
        dtypes = [getattr(torch, name) for name in options.dtypes.split(",")]
        judge = functools.partial(run, dtypes=dtypes)
    total = [0, 0, 0, 0]
    absent = []
    heads = ("samples", "passed", "skip", "value", "grad")
    print(f"{'op':44} " + "{:>7} {:>6} {:>4} {:>8} {:>8}".format(*heads) + "  first failure")
    first, parts = map(int, options.part.split("/"))
    for row in list(table.entries(options.names))[first - 1 :: parts]:
        report = judge(row, options.limit)
        if report is None:
            absent.append(table.title(row))
            continue
        counts = (1, report.samples, report.passed, report.skipped)
        total = [a + b for a, b in zip(total, counts, strict=False)]
        if options.failed and not report.failures:
            continue
        shown = report.failures if options.all_failures else report.failures[:1]
        print(
            f"{report.name:44} {report.samples:7} {report.passed:6} {report.skipped:4}"
            f" {report.worst:8.1e} {report.worst_grad:8.1e}"
            + "".join(f"\n    {what}: {error}" for what, error in shown),
            flush=True,
        )
    print(
        f"{total[0]} rows, {total[1]} samples, {total[2]} passed, {total[1] - total[2]} failed,"
        f" {total[3]} skipped (dtypes and objects that rushlight has not), {len(absent)} absent"
    )
    if options.absent:
        for name in dict.fromkeys(absent):
            print(f"{name}: {reason(name)}")
    return total[1] != total[2]


sys.exit(main())
