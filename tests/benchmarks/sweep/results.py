"""The results of a sweep in one compressed table: a line an entry, the machine in the first."""

import csv
import gzip
import io
import json
import math
import os

FIELDS = ("op", "dtype", "layout", "size", "backward", "ours", "torch")
NOISE = 1.05


class Results:
    """Seconds of both sides by entry, kept in `path`."""

    def __init__(self, path):
        self.path, self.machine, self.rows = path, {}, {}
        if os.path.exists(path):
            with gzip.open(path, "rt", newline="") as file:
                self.machine = json.loads(file.readline())
                for op, dtype, layout, size, backward, ours, torch in list(csv.reader(file))[1:]:
                    key = (op, dtype, layout, int(size), backward == "True")
                    self.rows[key] = (number(ours), number(torch))

    def save(self):
        text = io.StringIO(newline="")
        text.write(json.dumps(self.machine) + "\n")
        table = csv.writer(text, lineterminator="\n")
        table.writerow(FIELDS)
        for key, times in sorted(self.rows.items()):
            table.writerow([*key, *(t if isinstance(t, str) else f"{t:.4g}" for t in times)])
        with open(f"{self.path}.part", "wb") as file:
            file.write(gzip.compress(text.getvalue().encode(), mtime=0))
        os.replace(f"{self.path}.part", self.path)

    def better(self, key, times):
        """Keeps the best times of this entry and of what was kept before."""
        before = self.rows.get(key)
        if before and not any(isinstance(t, str) for t in (*before, *times)):
            times = tuple(map(min, before, times))
        self.rows[key] = times

    def ratios(self):
        return {k: a / b for k, (a, b) in self.rows.items() if not isinstance(a, str)}

    def slow(self, least=NOISE):
        """(ratio, key), the worst first."""
        return sorted(((r, k) for k, r in self.ratios().items() if r > least), reverse=True)


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan
