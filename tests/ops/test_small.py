"""Pointwise ops on bool and narrow integers, which have loops of their own: against torch, in the
layouts and mixtures that take the other way."""

import numpy as np
import pytest

import rushlight
from tests.compare import same_as_torch
from tests.conftest import load_reference

torch = load_reference()

CALLS = ["x + y", "x * y", "x == y", "x != y", "x < y", "x <= y", "x > y", "x >= y", "x & y",
         "x | y", "x ^ y", "~x", "T.logical_not(x)", "T.logical_and(x, y)", "T.logical_or(x, y)",
         "T.logical_xor(x, y)", "T.maximum(x, y)", "T.minimum(x, y)", "T.where(m, x, y)",
         "T.where(x != 0, y, x)", "x.masked_fill(m, 1)", "x == 1", "x < 1", "x & 1", "x + True",
         "x + y[:1]", "x.t() + y.t()", "x[:, ::3] * y[:, ::3]",
         "T.mul(x, y, out=T.empty(0, dtype=x.dtype, device=x.device))",
         "T.eq(x, y, out=T.empty(0, dtype=T.uint8, device=x.device))", "x + y.long()",
         "x * y.float()", "T.sign(x)", "T.sgn(x)", "T.signbit(x)", "T.fmax(x, y)", "T.fmin(x, y)",
         "T.nan_to_num(x)", "T.nan_to_num(x[:, ::3], nan=1000.0, posinf=1.5)"]  # fmt: skip
BYTES = ["x - y", "-x", "T.add(x, y, alpha=3)", "T.sub(x, y, alpha=200)", "T.rsub(x, y)", "255 - x",
         "x + 255", "x * 255", "x.clamp(3, 200)", "x.clamp(min=9)", "x.clamp(max=9)", "x < 200",
         "x.clamp(min=y)", "x // 3", "x % 7", "abs(x)", "T.floor(x)",
         "T.ceil(x[:, ::3])", "T.trunc(x)", "T.round(x)", "x.floor_()", "~x.t()",
         "T.nn.functional.hardtanh(x, 3, 100)"]  # fmt: skip
SIGNED = ["x - y", "-x", "T.add(x, y, alpha=-3)", "T.rsub(x, y)", "100 - x", "x * -7", "x * 300",
          "x.clamp(-30, 100)", "x < -5", "x > 40000", "x.clamp(max=y)", "abs(x)", "T.square(x)",
          "x // z", "x % z", "T.fmod(x, z)", "T.div(x, z, rounding_mode='trunc')", "x // -1",
          "x % -3", "x << 3", "x >> 2", "x << (y & 7)", "x >> (y & 7)", "T.relu(x)",
          "x.floor()", "x.t().ceil()", "x.round_()", "x.trunc()", "(-x).t()", "~x",
          "T.nn.functional.hardtanh(x)", "T.nn.functional.threshold(x, 1, -5)",
          "T.nn.functional.hardtanh(x, -100, 120)",
          "x[:, ::2] // z[:, ::2]", "z.t() % z.t()", "x.add_(y)", "x.mul_(y[:1])"]  # fmt: skip


def pair(dtype, rows, columns, seed, device):
    a = np.random.RandomState(seed).randint(0, 2**32, 1009)
    a = np.resize(a, (rows, columns))
    if dtype == "bool":
        a = (a & 255) > 127
    else:
        a = a.astype(f"u{dtype}".replace("uu", "u")).view(dtype)
        a[0, 0] = np.iinfo(dtype).min
    return rushlight.tensor(a, device=device), torch.tensor(a)


@pytest.mark.parametrize(
    ("dtype", "call"),
    [("bool", call) for call in CALLS]
    + [("uint8", call) for call in CALLS + BYTES]
    + [(d, call) for d in ("int8", "int16", "int32") for call in CALLS + SIGNED],
)
def test_as_torch(device, dtype, call):
    for shape in ((3, 1), (5, 67), (300, 401)):
        kinds = [(dtype, 1), (dtype, 2), ("bool", 3)]
        operands = [pair(kind, *shape, seed, device) for kind, seed in kinds]
        ours, theirs = (
            eval(call, {"T": t, "x": x, "y": y, "m": m, "z": y.masked_fill(y == 0, 1)})
            for t, x, y, m in zip((rushlight, torch), *operands, strict=True)
        )
        same_as_torch(ours, theirs)


def test_shifts_by_more_than_all_bits(device):
    for dtype, bits in ((rushlight.int8, 8), (rushlight.int16, 16), (rushlight.int32, 32)):
        x = rushlight.tensor([5, -5] * 40, dtype=dtype, device=device)
        for by in (bits - 1, bits, 63, 100, -1):
            y = rushlight.full_like(x, by)
            if bits > by >= 0:
                assert (x >> y).tolist()[:2] == [0, -1]
            else:
                assert (x << y).tolist()[:2] == [0, 0] and (x >> y).tolist()[:2] == [0, -1]


def test_any_byte_but_0_is_true(device):
    a = np.array([0, 1, 2, 255, 128] * 30, dtype="uint8")
    x = rushlight.tensor(a, device=device).view(rushlight.bool)
    y = rushlight.ones_like(x)
    truth = (a != 0).tolist()
    for result in (x & y, x == y, x.logical_and(y), rushlight.where(x, y, ~y), x * y, ~(~x)):
        assert result.tolist() == truth
        assert set(result.view(rushlight.uint8).tolist()) == {0, 1}
