"""Measurement: several timings of one statement, and their statistics."""

from dataclasses import dataclass
from statistics import fmean, median, quantiles

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


@dataclass
class Measurement:
    """Times of a statement.

    Args:
        number_per_run: how often the statement ran for each time.
        raw_times: seconds of each run.
        label: a name of the statement.
        sub_label: a second one.
        description: what was different this time.
        num_threads: threads that operations might use.
        stmt: the statement.
        env: a name of the environment.

    >>> torch.utils.benchmark.Measurement(10, [1.0, 3.0]).mean
    0.2
    """

    number_per_run: int
    raw_times: list[float]
    label: "str | None" = None
    sub_label: "str | None" = None
    description: "str | None" = None
    num_threads: int = 1
    stmt: str = ""
    env: "str | None" = None

    @property
    def times(self):
        """Seconds of one execution, for each run."""
        return [time / self.number_per_run for time in self.raw_times]

    @property
    def mean(self):
        """Their mean."""
        return fmean(self.times)

    @property
    def median(self):
        """Their median."""
        return median(self.times)

    @property
    def iqr(self):
        """The distance between their quartiles."""
        if len(self.raw_times) < 2:
            return 0.0
        first, _, third = quantiles(self.times, n=4, method="inclusive")
        return third - first

    @property
    def title(self):
        """The label, or the statement."""
        title = self.label or self.stmt
        return f"{title}: {self.sub_label}" if self.sub_label else title

    def __repr__(self):
        scale, unit = next((u for u in _UNITS if self.median >= u[0]), _UNITS[-1])
        count = len(self.raw_times)
        # Under this path torch has it, and programs print it.
        lines = [f"<torch.utils.benchmark.utils.common.Measurement object at {id(self):#x}>"]
        lines.append(self.title)
        if self.description:
            lines.append(self.description)
        lines.append(f"  {'Median: ' if count > 1 else ''}{self.median / scale:.2f} {unit}")
        if count > 3:
            first, _, third = (q / scale for q in quantiles(self.times, n=4, method="inclusive"))
            iqr = f"{self.iqr / scale:.2f} {unit} ({first:.2f} to {third:.2f})"
            lines.append(f"  IQR:    {iqr}")
        runs = f"{self.number_per_run} runs {'per measurement,' if count > 1 else ','}"
        threads = f"{self.num_threads} thread{'s' * (self.num_threads > 1)}"
        lines.append(f"  {count} measurement{'s' * (count > 1)}, {runs} {threads}")
        return "\n".join(lines)
