"""What a row is, and how one side of it is timed."""

import itertools
import math
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """`statement` runs on the names that `setup(t)` returns; `target` is our time over torch's.

    With threads=1 the CPU time of the thread counts, with more the wall clock. `limit(t)`, one of
    limits.py, is how many seconds it must take.
    """

    statement: str
    target: float
    setup: Callable[[Any], dict[str, Any]]
    title: str = ""
    threads: int = 1
    rounds: int = 9
    limit: Callable[[Any], float | None] = lambda t: None

    @property
    def name(self) -> str:
        return self.title or self.statement


class Side:
    """One library's half of a row, ready to be timed."""

    def __init__(self, row: Row, module: Any):
        module.set_num_threads(row.threads)
        self.module, self.threads = module, row.threads
        self.clock = time.thread_time if row.threads == 1 else time.perf_counter
        self.names = row.setup(module)
        self.loop = self.compiled(row.statement)
        self.empty = self.compiled("pass")
        self.count, self.best = 1, float("inf")
        self.loop(3, **self.names)
        while self.seconds(self.loop) < 5e-3:
            self.count *= 2
        self.nothing = min(self.seconds(self.empty) for _ in range(5))

    def compiled(self, statement: str) -> Callable[..., None]:
        scope: dict[str, Any] = {"repeat": itertools.repeat}
        parameters = ", ".join(["n", *self.names])
        exec(f"def f({parameters}):\n for _ in repeat(None, n):\n  {statement}", scope)
        return scope["f"]

    def seconds(self, loop: Callable[..., None]) -> float:
        start = self.clock()
        loop(self.count, **self.names)
        return self.clock() - start

    def round(self) -> None:
        self.module.set_num_threads(self.threads)
        self.best = min(self.best, (self.seconds(self.loop) - self.nothing) / self.count)


def measure(row: Row, modules: list[Any]) -> list[float | None]:
    """Best seconds per statement of each module, in alternating rounds; None: it cannot do it."""
    sides: list[Side | None] = []
    for module in modules:
        try:
            sides.append(Side(row, module))
        except (AttributeError, ImportError, NotImplementedError, TypeError) as error:
            if os.environ.get("RUSHLIGHT_BENCHMARK_DEBUG"):
                raise
            print(f"  {row.name}: {module.__name__} cannot: {error}".split("\n")[0])
            sides.append(None)
    for _ in range(row.rounds):
        for side in sides:
            if side:
                side.round()
    return [side.best if side else None for side in sides]


def summary(ratios: Iterable[float], limit: float) -> str:
    ratios = list(ratios)
    mean = math.exp(sum(map(math.log, ratios)) / max(1, len(ratios)))
    above = sum(ratio > limit for ratio in ratios)
    return f"{len(ratios)} rows, geometric mean {mean:.3f}, {above} above {limit}"
