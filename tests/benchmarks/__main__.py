"""Prints ours, torch's, the ratio, the target and the limit (limits.py) of every row whose name
contains the words given.

python -m tests.benchmarks [WORDS ...] [--alone]
python -m tests.benchmarks --sweep --help
python -m tests.benchmarks --models [WORDS ...]
python -m tests.benchmarks --everyday --help
python -m tests.benchmarks --shapes --help
"""

import sys
import warnings

import rushlight
from tests.benchmarks import large, package, small, training
from tests.benchmarks.everyday.command import everyday
from tests.benchmarks.models import models
from tests.benchmarks.rows import measure
from tests.benchmarks.shapes.command import shapes
from tests.benchmarks.sweep.command import sweep

NEAR = 1.25  # times its limit is at its limit


def time_text(seconds):
    if seconds is None:
        return "-"
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def size_text(size):
    return "-" if size is None else f"{size / 1e6:.3g} MB"


def line(name, ours, theirs, target, text, limit=None):
    if ours is None or theirs is None:
        ratio, verdict = "-", ""
    else:
        value = ours / theirs
        at_limit = limit is not None and ours <= NEAR * limit
        verdict = "ok" if value <= target else "AT ITS LIMIT" if at_limit else "MISSED"
        ratio = f"{value:.3f}"
    print(f"{name:<48} {text(ours):>9} {text(theirs):>9} {ratio:>7} {target:>6} {text(limit):>9}  "
          f"{verdict}")  # fmt: skip
    sys.stdout.flush()
    return verdict


def package_rows(words, alone):
    def wanted(name):
        return not words or any(w in name for w in words)

    if wanted("import"):
        ours = package.fresh_import("rushlight")
        theirs = (None, None) if alone else package.fresh_import("torch")
        yield line("import, CPU time", ours[0], theirs[0], 0.04, time_text)
        yield line("import, resident memory", ours[1], theirs[1], 0.15, size_text)
    if wanted("wheel"):
        size, installed = package.wheel_bytes("rushlight"), package.installed_bytes("rushlight")
        for name, value, most in (("wheel", size, 16e6), ("installed size", installed, 45e6)):
            verdict = "ok" if value <= most else "MISSED"
            print(
                f"{name:<48} {size_text(value):>9} {'':>17} {size_text(most):>6} {'':>9}  {verdict}"
            )
            yield verdict


def main():
    alone = "--alone" in sys.argv
    words = [a for a in sys.argv[1:] if not a.startswith("--")]
    modules = [rushlight]
    if not alone:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                import torch

                modules.append(torch)
            except ImportError:
                print("torch is not installed: ours alone")
    print(f"{'':<48} {'ours':>9} {'torch':>9} {'ratio':>7} {'target':>6} {'limit':>9}")
    verdicts = []
    for row in [*small.ROWS, *large.ROWS, *training.ROWS]:
        if not words or any(w in row.name for w in words):
            times = [*measure(row, modules), None][:2]
            limit = row.limit(rushlight)
            verdicts.append(line(row.name, *times, row.target, time_text, limit))
    verdicts += package_rows(words, alone)
    print(f"{verdicts.count('ok')} rows reach their target, {verdicts.count('AT ITS LIMIT')} are "
          f"within {NEAR} of their limit, {verdicts.count('MISSED')} miss both")  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["--sweep"]:
        sweep(sys.argv[2:])
    elif sys.argv[1:2] == ["--models"]:
        models(sys.argv[2:])
    elif sys.argv[1:2] == ["--everyday"]:
        everyday(sys.argv[2:])
    elif sys.argv[1:2] == ["--shapes"]:
        shapes(sys.argv[2:])
    elif "--help" in sys.argv:
        print(__doc__.strip())
    else:
        main()
