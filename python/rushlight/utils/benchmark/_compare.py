"""Compare: measurements side by side in a table."""

import math

from rushlight.utils.benchmark._measurement import _UNITS, Measurement


def _titled(measurement):
    return measurement.sub_label or measurement.stmt


def _unique(values):
    return list(dict.fromkeys(values))


class Compare:
    """A table of measurements: a block for each label, a column for each description, and a row for
    each sub_label under each number of threads.

    Args:
        results: measurements.

    Raises:
        ValueError: if something else is among them.

    >>> M = torch.utils.benchmark.Measurement
    >>> print(torch.utils.benchmark.Compare([
    ...     M(1, [2e-6], label="ops", sub_label="4x4", description="add"),
    ...     M(1, [3e-6], label="ops", sub_label="4x4", description="mul"),
    ... ]))
    [--------- ops ----------]
                |  add  |  mul
    1 threads: ---------------
          4x4   |  2.0  |  3.0
    <BLANKLINE>
    Times are in microseconds (us).
    """

    def __init__(self, results):
        self._results = []
        self._trim = False
        self._colour = None
        self.extend_results(results)

    def extend_results(self, results):
        """Adds measurements."""
        results = list(results)
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(
                    "Expected an instance of `Measurement`, got " + type(result).__name__
                )
        self._results.extend(results)

    def trim_significant_figures(self):
        """Shows no more digits than the spread of a measurement allows."""
        self._trim = True

    def colorize(self, rowwise=False):
        """Marks the best time of each column, or of each row.

        Args:
            rowwise: of each row, across the columns.
        """
        self._colour = "row" if rowwise else "column"

    def highlight_warnings(self):
        """Has no effect: a measurement shows its own uncertainty."""

    def print(self):
        """Prints the table."""
        print(str(self))

    def __str__(self):
        return "\n".join(self._block(label) for label in _unique(r.label for r in self._results))

    def _number(self, measurement, scale):
        value = measurement.median / scale
        if not self._trim or not measurement.iqr or value <= 0:
            return f"{value:.1f}"
        known = max(1, -math.floor(math.log10(measurement.iqr / measurement.median)))
        return f"{value:.{min(3, max(0, known - 1 - math.floor(math.log10(value))))}f}"

    def _block(self, label):
        results = [r for r in self._results if r.label == label]
        least = min(r.median for r in results)
        scale, unit = next((u for u in _UNITS if least >= u[0]), _UNITS[-1])
        titles = _unique(map(_titled, results))
        columns = _unique(r.description or "" for r in results)
        cells = {
            (r.num_threads, _titled(r), r.description or ""): (r.median, self._number(r, scale))
            for r in results
        }
        left = max(10, *(len(title) + 6 for title in titles))
        widths = [
            max(len(column), *(len(text) for (_, _, c), (_, text) in cells.items() if c == column))
            for column in columns
        ]
        head = " " * left + "".join(
            f"  |  {column.rjust(width)}" for column, width in zip(columns, widths, strict=True)
        )
        lines = [f"[{f' {label or str()} '.center(len(head) - 2, '-')}]", head]
        for threads in sorted({r.num_threads for r in results}):
            title = f"{threads} threads: "
            lines.append(title + "-" * (len(head) - len(title)))
            for row in titles:
                found = [cells.get((threads, row, column)) for column in columns]
                if not any(found):
                    continue
                line = (" " * 6 + row).ljust(left)
                for column, cell, width in zip(columns, found, widths, strict=True):
                    text = (cell[1] if cell else "").rjust(width)
                    rivals = found if self._colour == "row" else [
                        cells.get((threads, title, column)) for title in titles
                    ]  # fmt: skip
                    if self._colour and cell and cell == min(filter(None, rivals)):
                        text = f"\033[92m\033[1m{text}\033[0m\033[0m"
                    line += f"  |  {text}"
                lines.append(line)
        names = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
        lines += ["", f"Times are in {names[unit]} ({unit}).", ""]
        return "\n".join(lines)
