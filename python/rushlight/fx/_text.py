"""Texts of graphs: names in snake case, and tables."""

import re


def snake_case(name):
    """FooBar as foo_bar."""
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


def table(header, rows):
    """Rows as text in columns, a line of dashes below the header."""
    lines = [header, *([str(value) for value in row] for row in rows)]
    widths = [
        max(map(len, column)) + (2 * (len(column) == 1)) for column in zip(*lines, strict=True)
    ]
    widths = [max(w, len(h) + 2) for w, h in zip(widths, header, strict=True)]
    lines.insert(1, ["-" * w for w in widths])
    return "\n".join(
        "  ".join(v.ljust(w) for v, w in zip(line, widths, strict=True)).rstrip() for line in lines
    )
