"""Filters that resize tensors, as matrices: Pillow's, and torch's without antialias."""

import math

import rushlight

from ._image import InterpolationMode


def _triangle(x):
    return max(0.0, 1.0 - abs(x))


def _cubic(x, a):
    x = abs(x)
    if x < 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


FILTERS = {
    InterpolationMode.NEAREST: None,
    InterpolationMode.NEAREST_EXACT: None,
    InterpolationMode.BILINEAR: (_triangle, 1.0),
    InterpolationMode.BICUBIC: (_cubic, 2.0),
}


def weights(size, wanted, mode, antialias):
    """Matrix (wanted, size): how much of each old row is in each new one."""
    if size < 1 or wanted < 1:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got {size} and {wanted}"
        )
    rows = [[0.0] * size for _ in range(wanted)]
    scale = size / wanted
    for i, row in enumerate(rows):
        if FILTERS[mode] is None:
            exact = mode is InterpolationMode.NEAREST_EXACT
            row[min(size - 1, math.floor((i + 0.5) * scale if exact else i * scale))] = 1.0
            continue
        function, support = FILTERS[mode]
        center = (i + 0.5) * scale
        if not antialias:
            if mode is InterpolationMode.BILINEAR:
                center = max(center, 0.5)
            base = math.floor(center - 0.5)
            for j in range(base - 1, base + 3):
                x = j + 0.5 - center
                share = _cubic(x, -0.75) if function is _cubic else function(x)
                row[min(max(j, 0), size - 1)] += share
            continue
        stretch = max(scale, 1.0)
        low = max(0, int(center - support * stretch + 0.5))
        high = min(size, int(center + support * stretch + 0.5))
        shares = []
        for j in range(low, high):
            x = (j + 0.5 - center) / stretch
            shares.append(_cubic(x, -0.5) if function is _cubic else function(x))
        total = sum(shares)
        row[low:high] = [share / total for share in shares]
    return rushlight.tensor(rows, dtype=rushlight.float64)
