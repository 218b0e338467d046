"""One entry timed on both sides: alternating rounds, process CPU time of one thread, the best.

A side's calls in a round take about `LOOP` seconds, or up to four times as long where the other
side is quicker; rounds end early for entries that take long.
"""

import time
from dataclasses import dataclass

from tests.benchmarks.sweep.operands import LAYOUTS, SIZES, prepared
from tests.benchmarks.sweep.table import OPS

LOOP, MOST, ROUNDS = 1e-3, 0.15, 4
REFUSALS = (AttributeError, ImportError, IndexError, NotImplementedError, RuntimeError, TypeError,
            ValueError)  # fmt: skip


@dataclass(frozen=True)
class Entry:
    op: object
    dtype: str
    layout: str
    size: int
    backward: bool

    @property
    def key(self):
        return (self.op.name, self.dtype, self.layout, self.size, self.backward)


def entries(names=()):
    """The entries of the operations of these names (all without), small ones first."""
    unknown = set(names) - {op.name for op in OPS}
    if unknown:
        raise SystemExit(f"the sweep has no operation named {', '.join(sorted(unknown))}")
    for size in SIZES:
        for op in OPS:
            if names and op.name not in names:
                continue
            for dtype in op.dtypes:
                for layout in LAYOUTS:
                    yield Entry(op, dtype, layout, size, False)
                    if op.backward and dtype in ("float32", "float64", "bfloat16"):
                        yield Entry(op, dtype, layout, size, True)


class Side:
    def __init__(self, module, entry):
        module.set_num_threads(1)
        self.run = prepared(module, *vars(entry).values())
        self.best, self.count = float("inf"), 1
        if self.run:
            self.round()
            while self.best * self.count < LOOP / 2:
                self.count = max(2 * self.count, int(LOOP / max(self.best, 1e-9) / 2))
                self.round()

    def round(self):
        start = time.process_time()
        self.run(self.count)
        self.best = min(self.best, (time.process_time() - start) / self.count)


def measured(entry, ours, torch):
    """(our seconds, torch's), with a word in place of either where that side refuses the call; None
    where there is no such entry."""
    sides = []
    for module in (torch, ours):
        try:
            side = Side(module, entry)
        except REFUSALS as error:
            if module is torch:
                return None
            return f"refused: {error}".split("\n")[0][:120], sides[0].best
        if side.run is None:
            return None
        sides.append(side)
    # As many calls on both sides, where that takes no longer than four rounds: what the other one
    # left in the caches costs both the same.
    most = max(side.count for side in sides)
    for side in sides:
        side.count = min(most, max(side.count, int(4 * LOOP / side.best)))
        side.best = float("inf")
    start = time.process_time()
    for _ in range(ROUNDS):
        for side in sides:
            side.round()
        if time.process_time() - start > MOST:
            break
    return sides[1].best, sides[0].best
