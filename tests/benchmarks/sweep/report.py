"""The page of a sweep: geometric means, what is slower than torch, and a picture of all ratios."""

import math
import os
from collections import defaultdict

from tests.benchmarks.machine import machine_text
from tests.benchmarks.sweep.operands import SIZES
from tests.benchmarks.sweep.reasons import reason_of
from tests.benchmarks.sweep.results import NOISE, geometric_mean

HEAD = """# Nothing slower than torch: the sweep

    OMP_NUM_THREADS=1 python -m tests.benchmarks --sweep --page

Everyday operations and layers by dtype, layout, size and direction, against PyTorch in the same
process, in alternating rounds, one thread's CPU time, the best of several. A ratio is our time over
PyTorch's. The times of all entries are in [{kept}]({kept}).
"""


def groups(results):
    """(what, ratios) of each line of the table of means."""
    ratios = results.ratios()
    yield "all", list(ratios.values())
    for size in SIZES:
        yield f"{size:,} elements", [r for k, r in ratios.items() if k[3] == size]
    for name in ("float32", "float64", "bfloat16", "int64", "int32", "bool"):
        yield name, [r for k, r in ratios.items() if k[1] == name]
    for name in ("contiguous", "transposed", "broadcast", "strided"):
        yield name, [r for k, r in ratios.items() if k[2] == name]
    for name, backward in (("forward", False), ("with backward", True)):
        yield name, [r for k, r in ratios.items() if k[4] == backward]


def summary(results):
    lines = [f"{'':<20} {'entries':>8} {'mean':>7} {'above ' + str(NOISE):>11}"]
    for what, ratios in groups(results):
        slow = sum(r > NOISE for r in ratios)
        lines.append(f"{what:<20} {len(ratios):>8} {geometric_mean(ratios):>7.3f} {slow:>11}")
    refused = sorted({k[:2] for k, (ours, _) in results.rows.items() if str(ours)[:7] == "refused"})
    if refused:
        lines.append("refused here: " + ", ".join(" ".join(k) for k in refused))
    return "\n".join(lines)


def slow_table(results):
    """A line per operation, dtype and direction: its worst ratio, and where else it is above."""
    found = defaultdict(list)
    for ratio, key in results.slow():
        if reason_of(key):
            continue
        op, dtype, layout, size, backward = key
        found[op, dtype, backward].append((ratio, layout, size))
    for (op, dtype, backward), where in found.items():
        cases = ", ".join(f"{layout} {size:,} ({ratio:.2f})" for ratio, layout, size in where)
        name = f"`{op}`{' with backward' if backward else ''}"
        yield f"| {name} | {dtype} | {where[0][0]:.2f} | {cases} |"


def reason_table(results):
    """A line per reason: the operations that it explains, how many entries, and the worst."""
    found = defaultdict(list)
    for ratio, key in results.slow():
        if reason_of(key):
            found[reason_of(key)].append((ratio, key[0]))
    for reason, entries in found.items():
        names = ", ".join(f"`{name}`" for name in reason.names if name in {n for _, n in entries})
        what = names + (" with backward" if reason.backward else "")
        what += f", {' and '.join(reason.layouts)}" if reason.layouts else ""
        yield f"| {what} | {len(entries)} | {entries[0][0]:.2f} | {reason.text} |"


def write_page(results, path):
    picture = path.replace(".md", ".svg")
    with open(picture, "w") as file:
        file.write(drawn(results))
    head = HEAD.format(kept=os.path.basename(results.path))
    shown = f"![ratios]({os.path.basename(picture)})\n"
    lines = [head, machine_text(results.machine) + ".\n", shown]
    lines += ["| entries | how many | geometric mean | above 1.05 |", "|---|---|---|---|"]
    for what, ratios in groups(results):
        slow = sum(r > NOISE for r in ratios)
        lines.append(f"| {what} | {len(ratios):,} | {geometric_mean(ratios):.3f} | {slow} |")
    lines += ["\n## Above 1.05\n", "| what | dtype | worst | where |", "|---|---|---|---|"]
    lines += slow_table(results)
    lines += ["\n## Above 1.05 for a reason that stays\n", "| what | entries | worst | why |"]
    lines += ["|---|---|---|---|", *reason_table(results)]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def drawn(results):
    """An SVG of three lines, one a size: the share of entries below each ratio."""
    width, height, low, high = 640, 320, -3, 1  # ratios from 0.001 to 10, logarithmic
    colors = dict(zip(SIZES, ("#1b7837", "#2166ac", "#b2182b"), strict=True))

    def across(ratio):
        return 50 + (min(max(math.log10(ratio), low), high) - low) / (high - low) * (width - 70)

    def down(share):
        return height - 40 - share * (height - 60)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
             'font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>']  # fmt: skip
    for power in range(low, high + 1):
        x = across(10.0**power)
        shade = "#000" if power == 0 else "#ddd"
        parts.append(f'<path d="M{x:.1f} 20V{height - 40}" stroke="{shade}"/>')
        parts.append(
            f'<text x="{x:.1f}" y="{height - 24}" text-anchor="middle">{10.0**power:g}</text>'
        )
    for share in (0, 0.5, 1):
        parts.append(f'<text x="44" y="{down(share) + 4:.1f}" text-anchor="end">{share:.0%}</text>')
    for place, size in enumerate(SIZES):
        values = sorted(r for k, r in results.ratios().items() if k[3] == size)
        if not values:
            continue
        points = [f"{across(values[int(i / 200 * (len(values) - 1))]):.1f},{down(i / 200):.1f}"
                  for i in range(201)]  # fmt: skip
        parts.append(f'<polyline points="{" ".join(points)}" fill="none" stroke-width="2" '
                     f'stroke="{colors[size]}"/>')  # fmt: skip
        parts.append(f'<text x="60" y="{40 + 16 * place}" fill="{colors[size]}">'
                     f"{size:,} elements</text>")  # fmt: skip
    parts.append(f'<text x="{width / 2}" y="{height - 6}" text-anchor="middle">our time over '
                 "PyTorch's; the share of entries below it</text></svg>\n")  # fmt: skip
    return "\n".join(parts)
