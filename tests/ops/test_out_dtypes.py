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


DTYPES_OF_TWO = [
    ("float64", "int64"), ("float32", "int32"), ("float32", "float32"), ("float16", "int64"),
    ("float32", "int64"),
]  # fmt: skip
EXACT = [
    "round(f, out=e('float64'))", "round(i, out=e('float64'))", "round(f, out=e('float32'))",
    "round(f, decimals=1, out=e('float64'))", "aminmax(f, out=(e('float64'), e('float64')))",
    "linalg.qr(m, out=(e('float64'), e('float32')))",
    "linalg.slogdet(m, out=(e('float64'), e('float64')))",
    "linalg.inv_ex(m, out=(e('float64'), e('int32')))",
    "linalg.inv_ex(m, out=(e('float32'), e('int64')))",
    "geqrf(m, out=(e('float64'), e('float64')))",
] + [
    f"{call}, out=(e({first!r}), e({second!r})))"
    for call in (
        "max(f, 0", "min(f, 0", "sort(f", "topk(f, 1", "kthvalue(f, 1", "median(f, 0",
        "nanmedian(f, 0", "mode(f", "cummax(f, 0", "cummin(f, 0", "frexp(f",
    )
    for first, second in DTYPES_OF_TWO
]  # fmt: skip


@pytest.mark.parametrize("call", EXACT)
def test_what_is_not_converted(call, device):
    def found(t):
        d = device if t is rushlight else "cpu"
        names = {
            "t": t,
            "f": t.tensor([1.5, 2.5, 0.75], device=d),
            "i": t.tensor([1, 2, 3], device=d),
            "m": t.eye(2, device=d),
            "e": lambda dtype: t.empty(0, dtype=getattr(t, dtype), device=d),
        }
        try:
            y = eval("t." + call, names)
        except RuntimeError:
            return "RuntimeError"
        return [
            (str(p.dtype).split(".")[1], p.tolist())
            for p in ([y] if isinstance(y, t.Tensor) else y)
        ]

    assert found(rushlight) == ask(found)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_sizes_of_complex_numbers_go_to_any_dtype_that_holds_them(device, dtype):
    z = rushlight.tensor([3 + 4j, -5j], device=device)
    out = rushlight.empty(0, dtype=getattr(rushlight, dtype), device=device)
    assert rushlight.abs(z, out=out) is out
    assert out.tolist() == [5.0, 5.0]
    with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
        rushlight.abs(z.real, out=z.real.double())


@pytest.mark.parametrize("name", ["cat", "concat", "stack", "hstack", "vstack", "dstack"])
def test_what_cannot_be_joined_into(name, on_device):
    x = rushlight.ones(2, dtype=rushlight.complex64)
    words = r"torch.cat\(\): input types can't be cast to the desired output type Double"
    with pytest.raises(TypeError, match=words):
        getattr(rushlight, name)([x, x], out=rushlight.empty(0, dtype=rushlight.float64))


def test_a_condition_of_bytes_warns(device):
    condition = rushlight.tensor([1, 0], dtype=rushlight.uint8, device=device)
    rushlight.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="where received a uint8 condition tensor"):
            assert rushlight.where(condition, 1.0, 2.0).tolist() == [1.0, 2.0]
        with pytest.warns(UserWarning, match="where received a uint8 condition tensor"):
            condition.double().where(condition, 2.0)
    finally:
        rushlight.set_warn_always(False)
