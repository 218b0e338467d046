"""Broadcast and strided operands whose rows are short, of every width, in blocks that begin and end
in the middle of a row. Whole numbers, so that NumPy's results are exact.
"""

import numpy
import pytest

import rushlight as T
from tests.emulator import EMULATED

WIDTHS = (
    [1, 3, 8, 20] if EMULATED else [*range(1, 10), 12, 16, 17, 20, 32, 33, 48, 64, 65, 100, 257]
)
DTYPES = [T.float32, T.float64, T.bfloat16, T.int64, T.int32, T.int8, T.bool]
SIZES = (3, 41, 7) if EMULATED else (5, 211, 13)


def operands(width, dtype, device):
    """By their names, of shapes that broadcast to (5, 211, width); each numbered from another."""
    planes, rows, gap = SIZES
    shapes = {
        "dense": (planes, rows, width),
        "one of each row": (planes, rows, 1),
        "one of each row of a plane": (rows, 1),
        "a row for each plane": (planes, 1, width),
        "a row": (width,),
        "a plane": (rows, width),
        "one of each plane": (planes, 1, 1),
    }
    for n, (name, shape) in enumerate(shapes.items()):
        numbers = numpy.random.default_rng(n).integers(0, 4, shape)
        yield name, T.tensor(numbers).to(dtype).to(device)
    for name, step in {"gaps between rows": 1, "gaps between elements": gap}.items():
        numbers = numpy.random.default_rng(step).integers(0, 4, (planes, rows, width * step + 2))
        yield name, T.tensor(numbers).to(dtype).to(device)[..., 1 : 1 + width * step : step]
    columns = numpy.random.default_rng(99).integers(0, 4, (width, rows, planes))
    yield "transposed", T.tensor(columns).to(dtype).to(device).permute(2, 1, 0)


def exact(ours, expected):
    numpy.testing.assert_array_equal(ours.cpu().double().numpy(), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("width", WIDTHS)
def test_pairs(width, dtype, device):
    every = dict(operands(width, dtype, device))
    as_numpy = {name: x.cpu().double().numpy() for name, x in every.items()}
    for first in every:
        for second in ("dense", "one of each row", "a row", "gaps between rows", "a plane"):
            a, b = every[first], every[second]
            x, y = as_numpy[first], as_numpy[second]
            if dtype is T.bool:
                exact(a & b, numpy.logical_and(x, y))
                exact(a ^ b, x != y)
            else:
                exact(a - b, x - y)
                exact(a * b, x * y)
                exact(T.where(a > b, a, b), numpy.maximum(x, y))
            exact(a == b, x == y)


@pytest.mark.parametrize("width", WIDTHS)
def test_operands_of_two_dtypes(width, device):
    whole, halves = dict(operands(width, T.int32, device)), dict(operands(width, T.float32, device))
    for name, a in whole.items():
        b = halves["one of each row" if "one" not in name else "dense"]
        exact(a + b, a.cpu().double().numpy() + b.cpu().double().numpy())


@pytest.mark.parametrize("width", WIDTHS)
def test_results_that_lie_apart(width, device):
    every = dict(operands(width, T.float32, device))
    a, b = every["one of each row"], every["a row"]
    expected = a.cpu().numpy() - b.cpu().numpy()
    memory = T.full((*expected.shape[:2], 2 * width + 3), 7.0, device=device)
    out = memory[..., 1 : 1 + 2 * width : 2]
    T.sub(a, b, out=out)
    exact(out, expected)
    assert (memory[..., 0] == 7).all() and (memory[..., 2 * width + 1 :] == 7).all()
    assert (memory[..., 2 : 2 * width : 2] == 7).all()
    columns = T.empty(*expected.shape[::-1], device=device).permute(2, 1, 0)
    exact(T.sub(a, b, out=columns), expected)


@pytest.mark.parametrize("dtype", [T.float32, T.float64, T.uint8, T.int16, T.complex128], ids=str)
@pytest.mark.parametrize("width", WIDTHS)
def test_copies(width, dtype, device):
    numbers = numpy.random.default_rng(width).integers(0, 100, (3, 40, 2 * width + 1))
    x = T.tensor(numbers).to(dtype).to(device)
    parts = [
        x[..., 1 : width + 1],
        x[:, :, :width].transpose(0, 1),
        x[::2, 3:, -width:],
        x[:, :, :1].expand(3, 40, width),
        x[:, :1, :width].expand(3, 40, width),
    ]
    for part in parts:
        copied = part.contiguous()
        assert copied.is_contiguous() and copied.tolist() == part.tolist()
        into = T.zeros(*part.shape[:2], width + 2, dtype=dtype, device=device)
        into[..., 1 : width + 1] = part
        assert into[..., 1 : width + 1].tolist() == part.tolist()
        assert not numpy.any(into[..., 0].tolist() + into[..., width + 1].tolist())
        joined = T.cat([part, part[..., :1]], -1)
        assert joined[..., :width].tolist() == part.tolist()
