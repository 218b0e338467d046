"""uint16, uint32 and uint64 where torch computes with them, and what it refuses."""

import pytest

import rushlight
from tests.conftest import ask

DTYPES = ["uint16", "uint32", "uint64"]
CALLS = [
    "x * x", "x * 3", "x * y", "x / y", "x / 2", "x & y", "x | y", "x ^ y", "x & 6", "x * True",
    "T.bitwise_and(x, y)", "T.where(x == y, x, y)", "x + 1.5", "x - f", "x * f", "f / x", "x * d",
    "x.sqrt()", "x.exp()", "x.sin()", "x.reciprocal()", "T.special.i0(y)", "T.special.erf(y)",
    "T.lgamma(y)", "x.sigmoid()", "T.log(x)", "T.isnan(x)", "T.isinf(x)", "T.isfinite(x)",
    "x.floor()", "T.ceil(x)", "x.trunc()", "x < 1.5", "x[0] * y", "y * x[2]",
    "x.sum()", "x.sum(0)", "y.prod()", "x.cumsum(0)", "x.any()", "T.all(x)", "(x * 0).any(0, True)",
    "T.sum(x, 0, dtype=T.float32)", "x.mul_(y)", "x.bitwise_and_(y)", "T.atan2(y, f)",
]  # fmt: skip
REFUSED = [
    "x + x", "x - 1", "x // y", "x % y", "~x", "x << 1", "x < y", "x + x.int()", "x + x.byte()",
    "x.relu()", "x * x.long()", "T.gcd(x, y)", "x.square()", "-x", "abs(x)", "T.heaviside(x, y)",
    "T.ldexp(x, y)", "T.nn.functional.softsign(x)",
]  # fmt: skip


def answer(t, call, dtype, device="cpu"):
    top = 2 ** int(dtype[4:]) - 1
    kind = getattr(t, dtype)
    names = {
        "T": t, "x": t.tensor([1, top // 3 - 5, top], dtype=kind, device=device),
        "y": t.tensor([7, 2, 3], dtype=kind, device=device),
        "f": t.tensor([0.5, 2.0, -1.0], device=device),
        "d": t.tensor([0.5, 2.0, -1.0], dtype=t.float64, device=device),
    }  # fmt: skip
    try:
        result = eval(call, names)
    except Exception as error:
        return type(error).__name__
    return str(result.dtype).split(".")[1], list(result.shape), result.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("call", CALLS)
def test_computed(call, dtype, device):
    def found(t, device="cpu"):
        return answer(t, call, dtype, device)

    ours, theirs = found(rushlight, device), ask(found)
    assert ours[:2] == theirs[:2]
    if "float" not in theirs[0]:
        assert ours == theirs
        return
    a, b = (rushlight.tensor(each[2], dtype=rushlight.float64) for each in (ours, theirs))
    assert rushlight.allclose(a, b, 1e-6, 1e-6, equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("call", REFUSED)
def test_refused(call, dtype, device):
    def found(t, device="cpu"):
        return answer(t, call, dtype, device)

    ours, theirs = found(rushlight, device), ask(found)
    assert isinstance(ours, str)
    if isinstance(theirs, str):
        assert ours == theirs
