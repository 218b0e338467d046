"""python -m tests.benchmarks --sweep [NAME ...]: what is missing, or these operations again.

It keeps its results after every few seconds, so that it can be stopped and started again.
"""

import argparse
import sys
import time
import warnings

from tests.benchmarks.machine import machine, machine_text
from tests.benchmarks.sweep.measure import entries, measured
from tests.benchmarks.sweep.report import summary, write_page
from tests.benchmarks.sweep.results import Results

PAGE, KEPT = "docs/sweep.md", "docs/sweep.csv.gz"


def arguments(words):
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks --sweep", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="operations; all without")
    parser.add_argument("--limit", type=int, help="at most so many entries")
    parser.add_argument("--seconds", type=float, default=540, help="at most so long (540)")
    parser.add_argument(
        "--above",
        type=float,
        metavar="RATIO",
        help="again what is above this ratio; the best of all runs counts",
    )
    parser.add_argument("--dtype", help="of this dtype only")
    parser.add_argument("--size", type=int, help="of this many elements only")
    parser.add_argument("--layout", help="of this layout only")
    parser.add_argument("--kept", default=KEPT, help=f"the table of results ({KEPT})")
    parser.add_argument("--afresh", action="store_true", help="forgets what was kept")
    parser.add_argument(
        "--page",
        nargs="?",
        const=PAGE,
        metavar="FILE",
        help=f"writes this page ({PAGE}) and its picture",
    )
    return parser.parse_args(words)  # fmt: skip


def wanted(options, results):
    """The entries to measure, and how many of them."""
    ratios = results.ratios()
    found = []
    for entry in entries(options.names):
        if options.dtype not in (None, entry.dtype) or options.layout not in (None, entry.layout):
            continue
        if options.size not in (None, entry.size):
            continue
        if options.above is not None:
            if ratios.get(entry.key, 0) > options.above:
                found.append(entry)
        elif options.names or entry.key not in results.rows:
            found.append(entry)
    return found[: options.limit]


def sweep(words):
    """Measures, prints what is slower, and gives the results."""
    import torch

    import rushlight

    options = arguments(words)
    results = Results(options.kept)
    if options.afresh:
        results.rows, results.machine = {}, {}
    results.machine = results.machine or machine(torch)
    print(machine_text(results.machine))
    todo = wanted(options, results)
    began = kept = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for done, entry in enumerate(todo):
            now = time.monotonic()
            if now - began > options.seconds:
                print(f"stopped after {options.seconds:.0f} s: {len(todo) - done} entries left")
                break
            if now - kept > 20:
                results.save()
                kept = now
            times = measured(entry, rushlight, torch)
            results.better(entry.key, times or ("no such call", "no such call"))
            if sys.stdout.isatty() or done % 100 == 0 or options.names:
                print(
                    f"{done + 1}/{len(todo)} {text(entry.key, results.rows[entry.key])}", flush=True
                )
    results.save()
    print(summary(results))
    if options.page:
        write_page(results, options.page)
    return results


def text(key, times):
    op, dtype, layout, size, backward = key
    name = f"{op}{' with backward' if backward else ''}, {dtype}, {layout}, {size}"
    if isinstance(times[0], str):
        return f"{name}: {times[0]}"
    return (
        f"{name}: {times[0] * 1e6:.3g} us, torch {times[1] * 1e6:.3g} us: {times[0] / times[1]:.3f}"
    )
