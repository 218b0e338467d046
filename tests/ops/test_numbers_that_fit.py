"""Numbers among integers: refused where the dtype does not hold them, wrapped where torch wraps."""

import pytest

import rushlight
from tests.conftest import ask

# x has three elements; v is the number
CALLS = """
x.clamp(max=v)
x.clamp(v, 400)
torch.clamp_min(x, v)
x.clip_(max=v)
torch.where(x > 1, x, v)
torch.where(x > 1, v, x)
F.pad(x, (1, 0), value=v)
F.pad(x, (-1, 0), value=v)
torch.constant_pad_nd(x, (1, 0), v)
torch.nn.utils.rnn.pad_sequence([x, x[:1]], padding_value=v)
x.masked_fill(x > 1, v)
x.masked_fill_(x > 1, v)
x.index_fill(0, at, v)
x.index_fill_(0, at[:0], v)
x.scatter(0, at, v)
x.scatter_(0, at, v)
x.scatter_(0, at, v, reduce='add')
x.scatter(0, at[:0], v)
x.index_add(0, at, x[:1], alpha=v)
x ** v
v ** x
x.pow_(v)
x + v
x - v
v - x
x * v
x == v
torch.add(x, x, alpha=v)
torch.sub(x, 1, alpha=v)
torch.rsub(x, x, alpha=v)
torch.addcmul(x, x, x, value=v)
torch.nan_to_num(x, v)
F.hardtanh(x, -1, v)
F.hardtanh(x, v, 400)
F.relu6(x)
F.threshold(x, v, 1)
F.threshold(x, 1, v)
torch.addmm(x[None], x[None, :1], x[None], beta=v)
torch.addmv(x[:1], x[None], x, alpha=v)
torch.baddbmm(x[None, None], x[None, None, :1], x[None, None], beta=v)
torch.addr(x, x[:1], x, beta=v)
torch.addr(x, x[:1], x, alpha=v)
torch.full((2,), v, dtype=x.dtype)
torch.full_like(x, v)
x.new_full((0,), v)
x.fill_(v)
x.__setitem__(0, v)
torch.tensor([v], dtype=x.dtype)
torch.arange(0, 10, v, dtype=x.dtype) if v > 300 else None
torch.arange(0, v, dtype=torch.int64) if v > 1e20 else None
torch.linspace(0, v, 3, dtype=x.dtype)
torch.linspace(0, v, 1, dtype=x.dtype)
torch.logspace(v, 1, 2, dtype=x.dtype) if v > 1e10 else None
""".strip().split("\n")
NUMBERS = ["300", "-1", "-129", "2.5", "-0.5", "255.5", "127.5", "inf", "-inf", "nan", "1e30",
           "2**40", "True"]  # fmt: skip


def answers(module, call, where="cpu"):
    """The result or the refusal, of each dtype and number, as text."""
    found = []
    for dtype in ("uint8", "int8", "int32", "int64"):
        for number in NUMBERS:
            x = module.tensor([1, 2, 100], dtype=getattr(module, dtype), device=where)
            names = {"x": x, "v": eval(number, {"inf": float("inf"), "nan": float("nan")})}
            names |= {"at": module.tensor([0], device=where), "torch": module}
            try:
                y = eval(call, names | {"F": module.nn.functional})
                found.append(
                    (dtype, number, str(y.dtype), y.tolist()) if y is not None else x.tolist()
                )
            except (RuntimeError, NotImplementedError, ValueError) as error:
                words = str(error).split("\n")[0]
                if "can't be cast" not in words:  # torch names the dtype in C's words there
                    found.append((dtype, number, type(error).__name__, words))
    return repr(found)


@pytest.mark.parametrize("call", CALLS)
def test_numbers_as_torch_s(call, device):
    assert answers(rushlight, call, device) == ask(lambda t: answers(t, call))


def test_the_refusal_says_what_fits():
    x = rushlight.tensor([1, 2], dtype=rushlight.uint8)
    with pytest.raises(
        RuntimeError, match=r"where\(\): a number is 300, and torch.uint8 holds 0 to 255"
    ):
        rushlight.where(x > 1, x, 300)
    with pytest.raises(
        RuntimeError, match=r"masked_fill\(\): value is -1\.0, and torch.uint8 holds"
    ):
        x.masked_fill(x > 1, -1.0)


@pytest.mark.parametrize("value", ["-1.0", "300", "2.5", "inf"])
def test_a_tensor_as_value(value):
    """On a GPU the host would have to wait for it."""

    def results(t):
        x = t.tensor([1, 2, 100], dtype=t.uint8)
        v = t.tensor(float(value)) if "." in value or value == "inf" else t.tensor(int(value))
        found = []
        for call in (lambda: x.masked_fill(x > 1, v), lambda: x.index_fill(0, t.tensor([0]), v),
                     lambda: t.where(x > 1, x, v.to(t.int64)) if v < 1e9 else x):  # fmt: skip
            try:
                found.append(call().tolist())
            except RuntimeError as error:
                found.append(str(error).split("\n")[0])
        return found

    assert results(rushlight) == ask(results)


# what x and y give in their own dtype, which out= only converts
WRITES = """
add(x, y)
add(x, y, alpha=2)
sub(y, x)
mul(x, y)
mul(x, 2)
square(x)
pow(x, 2)
addcmul(x, x, y)
clamp_min(x, y)
bitwise_left_shift(x, y % 3)
sqrt(x)
atan2(x, y)
reciprocal(x)
rsqrt(x)
logaddexp(x, y)
""".strip().split("\n")


@pytest.mark.parametrize("call", WRITES)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "bool", "float16", "bfloat16"])
def test_out_of_another_dtype(call, dtype, device):
    def results(module, where, wide, in_out):
        x, y = (module.tensor(v, device=where).to(getattr(module, dtype))
                for v in ([100, 7, -3, 2**30], [3, 120, 100, 5]))  # fmt: skip
        if in_out:
            call_with = call[:-1] + ", out=out)"
            out = module.empty(0, dtype=getattr(module, wide), device=where)
        else:
            call_with, out = call, None
        try:
            y = eval("t." + call_with, {"t": module, "x": x, "y": y, "out": out})
        except (RuntimeError, NotImplementedError) as error:
            return type(error).__name__
        assert not in_out or y is out
        return repr(y.to(getattr(module, wide)).tolist())

    for wide in ("int32", "int64", "float32", "float64"):
        ours = results(rushlight, device, wide, True)
        if "Error" not in ours:
            assert ours == results(rushlight, device, wide, False)
        if "float" not in dtype and not any(
            name in call for name in ("sqrt", "atan2", "reciprocal", "logaddexp")
        ):
            assert ours == ask(lambda t, wide=wide: results(t, "cpu", wide, True))


def test_powers_of_bools(device):
    x = rushlight.tensor([True, False], device=device)
    assert (x**True).tolist() == [True, False]
    assert (x**False).tolist() == [True, True]
    assert x.clone().pow_(False).tolist() == [True, True]
    assert (x**2).tolist() == [1, 0]
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        _ = x**x


@pytest.mark.parametrize("to", ["int8", "uint8", "int16", "int32", "int64", "bool"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_floats_that_no_integer_is(dtype, to, device):
    """As torch on x86; blocks without such numbers take another loop."""

    def cast(module, where="cpu"):
        inf = float("inf")
        hard = [3e9, -3e9, inf, -inf, float("nan"), 300.7, -1.5, 2.0**31, -(2.0**31), -2147483648.5,
                2.0**32 + 5, 2.0**63, -(2.0**63), 1e19, -1e30, 65535.9, 0.0]  # fmt: skip
        x = module.tensor(hard * 70, dtype=module.float64).to(getattr(module, dtype)).to(where)
        y = x.to(getattr(module, to))
        return y[:17].tolist(), y[-17:].tolist(), x[::2].to(y.dtype).tolist() == y[::2].tolist()

    assert cast(rushlight, device) == ask(cast)
