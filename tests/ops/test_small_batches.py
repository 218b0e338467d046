"""Batches of small matrices in every layout, against NumPy: of small whole numbers all sums are
exact, whatever their order, and what lies beside an operand or a result is NaN."""

import itertools

import pytest

import rushlight
from tests.emulator import EMULATED

numpy = pytest.importorskip("numpy")

# Edges of vectors of 8 and of 16 lanes, of eight rows, and of four vectors of columns.
SIZES = [
    (1, 1, 1), (1, 5, 1), (9, 3, 1), (3, 17, 1), (8, 33, 1), (1, 4, 20), (1, 40, 3), (2, 2, 2),
    (3, 3, 3), (4, 4, 5), (2, 50, 3), (5, 8, 15), (7, 9, 16), (13, 6, 17), (6, 20, 33),
    (3, 7, 48), (5, 3, 64), (2, 4, 65), (4, 5, 130), (33, 17, 9), (70, 40, 2),
]  # fmt: skip
LAYOUTS = ("rows", "columns", "strided", "one for all", "padded")


def operand(random, shape, layout, dtype, device):
    """A batch of matrices and its values in float64."""
    batch, rows, columns = shape
    values = random.integers(-4, 5, shape).astype("float64")
    if layout == "one for all":
        values[:] = values[:1]
        base = rushlight.tensor(values[:1].tolist(), dtype=dtype, device=device)
        return base.expand(*shape), values
    at = {
        "rows": lambda t: t[0, :, :rows, 0, :columns],
        "columns": lambda t: t[0, :, :rows, 0, :columns],
        "strided": lambda t: t[0, :, :rows, 0, ::2],
        "padded": lambda t: t[1, ::2, :rows, 0, 1:-1],
    }[layout]
    wide = {"strided": 2 * columns, "padded": columns + 2}.get(layout, columns)
    deep = 2 * batch if layout == "padded" else batch
    if layout == "columns":
        values = values.swapaxes(1, 2)
        rows, columns, wide = columns, rows, rows
    t = rushlight.full((2, deep, rows, 1, wide), float("nan"), dtype=dtype, device=device)
    part = at(t)
    part.copy_(rushlight.tensor(values.tolist(), dtype=dtype))
    return (part.mT, values.swapaxes(1, 2)) if layout == "columns" else (part, values)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("threads", [1, 3])
def test_small_batches(dtype, threads, device):
    random, before = numpy.random.default_rng(0), rushlight.get_num_threads()
    dtype = getattr(rushlight, dtype)
    pairs = list(itertools.product(LAYOUTS, repeat=2))
    rushlight.set_num_threads(threads)
    try:
        for number, (m, k, n) in enumerate(SIZES):
            for left, right in pairs[number % 5 :: 5] if EMULATED else pairs:
                batch = 3 if EMULATED else 9
                a, x = operand(random, (batch, m, k), left, dtype, device)
                b, y = operand(random, (batch, k, n), right, dtype, device)
                wanted = x @ y
                case = (m, k, n, left, right)
                assert (rushlight.bmm(a, b).double().cpu().numpy() == wanted).all(), case
                base, start = operand(random, (batch, m, n), right, dtype, device)
                found = rushlight.baddbmm(base, a, b, beta=2, alpha=0.5)
                exact = rushlight.tensor((2 * start + wanted / 2).tolist(), dtype=dtype)
                assert (found.cpu() == exact).all(), case
                for layout in ("columns", "padded"):
                    out, _ = operand(random, (batch, m, n), layout, dtype, device)
                    outside = out._base.isnan().sum().item()
                    rushlight.bmm(a, b, out=out)
                    assert (out.double().cpu().numpy() == wanted).all(), (*case, layout)
                    assert out._base.isnan().sum().item() == outside, (*case, layout)
    finally:
        rushlight.set_num_threads(before)
