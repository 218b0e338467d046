"""out= and dtype= of another dtype than the operands': what is computed in it, cast or refused."""

import pytest

import rushlight
from tests.conftest import ask

CALLS = [
    f"T.{name}({x}, 0, out=e({dtype!r}))"
    for name in ("sum", "prod", "cumsum", "cumprod")
    for x in ("f", "i", "b")
    for dtype in ("int64", "int32", "uint8", "bool", "float16", "float32", "float64")
    if (name, dtype) not in {("cumsum", "bool"), ("cumprod", "bool")}
] + [
    "T.mean(f, 0, out=e('int64'))",
    "T.mean(i, 0, out=e('float32'))",
    "T.sum(f, 0, dtype=T.float64, out=e('float32'))",
    "T.sum(f, 0, dtype=T.float64, out=e('float64'))",
    "T.cumsum(f, 0, dtype=T.int64, out=e('int64'))",
    "T.cumsum(f, 0, dtype=T.int64, out=e('int32'))",
    "T.outer(f, f, out=e('float64'))",
    "T.outer(f, f, out=e('float16'))",
    "T.outer(f, f, out=e('int64'))",
    "T.outer(i, i, out=e('float64'))",
    "T.ger(i, f, out=e('float64'))",
    "T.addr(f, f, f, out=e('float64'))",
    "T.bitwise_not(b, out=e('float32'))",
    "T.bitwise_not(i, out=e('float32'))",
    "T.bitwise_not(b, out=e('bool'))",
    "T.sum(g, dtype=T.int64)",
    "T.sum(g, 0, dtype=T.bool)",
    "T.nansum(g, dtype=T.int64)",
    "T.prod(g, dtype=T.int32)",
    "T.prod(g, 0, dtype=T.int32)",
    "T.cumsum(g, 0, dtype=T.int64)",
    "T.cumprod(g, 0, dtype=T.int64)",
    "T.sum(g.detach(), dtype=T.int64)",
    "T.clamp(u, 0, T.tensor(300))",
    "T.clamp(u, T.tensor(-1), 7)",
    "T.clamp(u, 0, T.tensor(6))",
    "T.clamp(u, 0, T.tensor(6.5))",
    "T.clamp(u, max=T.tensor(300))",
]


@pytest.mark.filterwarnings("ignore")  # torch's, of ger
@pytest.mark.parametrize("call", CALLS)
def test_as_torch(call, device):
    def found(t):
        d = device if t is rushlight else "cpu"
        names = {
            "T": t,
            "f": t.tensor([1.5, 2.5, 0.75], device=d),
            "i": t.tensor([1, 2, 3], device=d),
            "b": t.tensor([True, False, True], device=d),
            "u": t.tensor([5, 200], dtype=t.uint8, device=d),
            "g": t.tensor([1.5, 2.5], requires_grad=True, device=d),
            "e": lambda dtype: t.empty(0, dtype=getattr(t, dtype), device=d),
        }
        try:
            y = eval(call, names)
        except RuntimeError as error:
            return str(error).splitlines()[0]
        return str(y.dtype).split(".")[1], y.tolist()

    assert found(rushlight) == ask(found)


@pytest.mark.parametrize(
    "call",
    [
        "T.prod(x, dim=None)",
        "x.prod(None)",
        "T.logsumexp(x, dim=None)",
        "x.logsumexp(None)",
        "T.unique(x[0], dim=0)",
        "T.unique_consecutive(x[0], dim=-1)",
    ],
)
def test_refused_as_by_torch(call, on_device):
    def kind(t):
        with pytest.raises(Exception) as error:
            eval(call, {"T": t, "x": t.ones(2)})
        return error.type.__name__

    assert kind(rushlight) == ask(kind)
