"""Pointwise ops in the ways their operands reach a loop: whole, few, row by row, gathered,
repeated, in blocks of which some take a shorter formula; against torch."""

import numpy as np
import pytest

import rushlight
from rushlight.nn import functional
from tests.compare import same_as_torch
from tests.conftest import load_reference

torch = load_reference()

SHAPES = [(3, 1), (4, 6), (5, 67), (37, 130)]
SPECIAL = [0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1.0, -1.0, 3e38, 1e-40]


def pair(dtype, shape, seed, device):
    """The same numbers in both libraries; a third of the rows has positive ones only."""
    a = np.random.RandomState(seed).randint(-16, 17, shape) / 4  # few numbers: short records
    a[::3] = np.abs(a[::3]) + 0.1
    flat = a.reshape(-1)
    if flat.size > 100:
        flat[-2 * len(SPECIAL) :: 2] = SPECIAL
    if dtype.startswith("int"):
        a = np.nan_to_num(a * 1e3, posinf=7, neginf=-7).clip(-1e9, 1e9)
    a = a.astype(np.float32 if dtype == "bfloat16" else dtype)
    ours, theirs = rushlight.tensor(a, device=device), torch.tensor(a)
    if dtype == "bfloat16":
        ours, theirs = ours.bfloat16(), theirs.bfloat16()
    return ours, theirs


def compare(dtype, call, device):
    for shape in SHAPES:
        operands = [pair(dtype, shape, seed, device) for seed in (1, 2, 3)]
        ours, theirs = (
            eval(call, {"T": t, "F": f, "x": x, "y": y, "z": z, "r": y[0], "c": y[:, :1]})
            for t, f, x, y, z in zip(
                (rushlight, torch), (functional, torch.nn.functional), *operands, strict=True
            )
        )
        same_as_torch(ours, theirs, rtol=None)


LAID_OUT = [
    "x[:, ::2] + y[:, ::2]",
    "x[:, ::3] * y[:, ::3]",
    "x[::2] - y[1::2][:1]",
    "x[:, ::2].mul_(y[:, ::2])",
    "x.mul_(y[:, :1])",
    "x[:, 1::2].add_(1)",
    "x.t() + y.t()",
    "x.t() * r[:, None]",
    "x + r",
    "r - x",
    "x * c",
    "c * x",
    "c - x",
    "x - c",
    "T.add(c, x, alpha=2)",
    "T.add(x, c, alpha=2)",
    "c + r",
    "c * r",
    "x[:, ::2] * c",
    "2 * x",
    "x + 3",
    "T.add(2, x, alpha=3)",
    "T.abs(x[:, ::2])",
    "-r.expand(9, -1)",
    "T.maximum(x, c)",
    "T.where(x[:, ::2] > 0, x[:, ::2], c)",
    "x[:, ::2] > y[:, ::2]",
    "T.addcmul(x, c, y)",
    "T.addcmul(x, r, r)",
    "T.addcmul(x, r, y)",
    "T.stack([x, y]) - z",
    "T.stack([x, y]) * r",
    "x.masked_fill(y > 0, 2)",
    "T.stack([x, y, z], 2)[..., 1] * z",
]
FLOATING = [
    "x / c",
    "c / x",
    "x / 3",
    "x * 0.3",
    "x + 0.1",
    "T.copysign(x, y)",
    "T.copysign(x, r)",
    "T.minimum(x[:, ::2], y[:, ::2])",
    "T.lerp(x, y, 0.3)",
    "1 / x[:, ::2]",
    "abs(x.t())",
    "F.relu(x[:, ::2])",
    "F.hardswish(x)",
    "T.sqrt(abs(x[:, ::2]))",
    "x[:, 1:] * 0.3",
    "x[:, 1:] * y[:, :-1]",
    "c * 0.3",
    "x * float('nan')",
    "0.3 - x",
    "x.clamp(min=0.3)",
    "x.clamp(max=c)",
    "x.clamp(-0.3, 0.7)",
    "T.lerp(x, y, c)",
    "F.leaky_relu(x, 0.07)",
    "F.hardtanh(x, -0.3, 0.7)",
    "F.hardsigmoid(x)",
]
SLOPES = ["x * 0.3", "x / 0.3", "0.3 - x", "x / y", "x * c", "T.lerp(x, y, 0.3)", "F.relu(x)",
          "x.clamp(-0.3, 0.7)", "x.clamp(min=0.3)", "F.leaky_relu(x, 0.07)", "x.square()",
          "F.hardtanh(x, -0.3, 0.7)", "F.hardsigmoid(x)", "F.hardswish(x)"]  # fmt: skip
RAMPS = ["F.elu(x)", "F.elu(x, 0.5)", "F.celu(x, 2.0)", "T.selu(x)", "F.elu(x[:, ::2])",
         "F.elu(r.expand(9, -1))", "T.selu(abs(x) + 1)", "F.elu(abs(x.t()) + 1, 3.0)",
         "F.celu_(x.clone(), 0.3)", "F.elu(x[::3])", "T.selu_(x[::3].clone())"]  # fmt: skip
TESTS = ["T.isfinite(x)", "T.isnan(x[:, ::2])", "T.isinf(x.t())", "T.isposinf(x)", "T.isneginf(x)",
         "T.isfinite(r.expand(9, -1))"]  # fmt: skip
QUOTIENTS = ["x // z", "x % z", "T.fmod(x, z)", "T.div(x, z, rounding_mode='trunc')", "x // -7",
             "x[:, ::2] % z[:, ::2]", "x.t() // z.t()", "c // z"]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "int64"])
@pytest.mark.parametrize("call", LAID_OUT)
def test_layouts(device, dtype, call):
    compare(dtype, call, device)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("call", FLOATING)
def test_floating(device, dtype, call):
    compare(dtype, call, device)


@pytest.mark.parametrize("call", ["x + r", "x * r", "T.stack([x, y]) / z", "T.lerp(x, r, y)"])
def test_gradients_of_rows(device, call):
    """An input that has the last dimensions alone gets the sum of its gradient over the others."""
    gradients = []
    for t, side in ((rushlight, 0), (torch, 1)):
        x, y, z = (pair("float32", (4, 6), seed, device)[side] for seed in (1, 2, 3))
        r = y[0].clone()
        z = z * z + 1
        leaves = [v.requires_grad_(True) for v in (x, r, z)]
        result = eval(call, {"T": t, "x": x, "y": y, "z": z, "r": r})
        (result * result).sum().backward()
        gradients.append([v.grad for v in leaves if v.grad is not None])
    for ours, theirs in zip(*gradients, strict=True):
        same_as_torch(ours, theirs, rtol=None)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("call", SLOPES)
def test_gradients_where_numbers_have_none(device, dtype, call):
    for shape in SHAPES[:3]:
        gradients = []
        for t, f, side in ((rushlight, functional, 0), (torch, torch.nn.functional, 1)):
            x, y, g = (pair(dtype, shape, seed, device)[side] for seed in (1, 2, 3))
            y = (abs(y) + 1).requires_grad_(True)
            x = x.requires_grad_(True)
            result = eval(call, {"T": t, "F": f, "x": x, "y": y, "c": y[:, :1]})
            result.backward(g)
            gradients.append([v.grad for v in (x, y) if v.grad is not None])
        for ours, theirs in zip(*gradients, strict=True):
            same_as_torch(ours, theirs, rtol=None)


def test_signs_of_bfloat16(device):
    """As bits: zeros and NaN too."""
    for shape in SHAPES:
        (x, tx), (y, ty) = (pair("bfloat16", shape, seed, device) for seed in (1, 2))
        for call in ("-x", "abs(x)", "T.copysign(x, y)", "T.copysign(x, -abs(y))", "T.relu(x)"):
            ours, theirs = (
                t.where(t.isnan(v), 0, t.signbit(v))
                for t, v in (
                    (rushlight, eval(call, {"T": rushlight, "x": x, "y": y})),
                    (torch, eval(call, {"T": torch, "x": tx, "y": ty})),
                )
            )
            same_as_torch(ours, theirs)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("call", RAMPS)
def test_ramps_of_positive_blocks_and_others(device, dtype, call):
    compare(dtype, call, device)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "int64"])
@pytest.mark.parametrize("call", TESTS)
def test_tests(device, dtype, call):
    compare(dtype, call, device)


def test_tests_of_bool_and_bytes(device):
    for dtype in (rushlight.bool, rushlight.uint8):
        x = rushlight.ones(7, 9, dtype=dtype, device=device)[:, ::2]
        for test, value in (("isfinite", True), ("isnan", False), ("isinf", False)):
            result = getattr(rushlight, test)(x)
            assert result.dtype is rushlight.bool and result.tolist() == [[value] * 5] * 7


@pytest.mark.parametrize("call", QUOTIENTS)
def test_quotients_of_int64(device, call):
    """What a double holds exactly, and blocks with more than that."""
    near = [0, 1, -1, 7, -7, 2**50 - 1, -(2**50) + 1, 3 * 2**47 + 1, 94906267]
    far = [2**50, -(2**50), 2**53 + 1, -(2**62) + 3, 2**63 - 1, -(2**63)]
    for numbers in (near, near + far):
        a = np.array(numbers, dtype=np.int64)
        x, z = (a.copy() for a in np.broadcast_arrays(a[:, None], np.tile(a[a != 0], 40)))
        z[z == -1] = 3  # the quotient of the least number by -1 is none
        ours, theirs = (
            eval(call, {"T": t, "x": t.tensor(x, **where), "z": t.tensor(z, **where),
                        "c": t.tensor(x[:, :1], **where)})
            for t, where in ((rushlight, {"device": device}), (torch, {}))
        )  # fmt: skip
        same_as_torch(ours, theirs)


def test_the_first_zero_among_many_divisors_is_found(device):
    x = rushlight.ones(3, 700, dtype=rushlight.int64, device=device)
    for at in ((0, 0), (1, 511), (2, 699)):
        y = rushlight.ones(3, 700, dtype=rushlight.int64, device=device)
        y[at] = 0
        for divisor in (y, y.t().contiguous().t()):
            with pytest.raises(RuntimeError, match="ZeroDivisionError"):
                x // divisor


CASTS = [(a, b) for a in ("float32", "float64", "bfloat16", "int32", "int64", "uint8")
         for b in ("float32", "float64", "bfloat16", "int64", "bool") if a != b]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), CASTS)
def test_casts_of_strided(device, before, after):
    a = np.random.RandomState(0).randint(0, 4, (7, 1031))
    ours, theirs = (
        t.tensor(a).to(getattr(t, before)).to(where)
        for t, where in ((rushlight, device), (torch, "cpu"))
    )
    for cut in (np.s_[:, ::2], np.s_[:, 1::3], np.s_[::2, 5:9:2]):
        same_as_torch(
            ours[cut].to(getattr(rushlight, after)), theirs[cut].to(getattr(torch, after))
        )
        into, expected = (
            t.zeros(7, 1031, dtype=getattr(t, after), device=where)
            for t, where in ((rushlight, device), (torch, "cpu"))
        )
        into[cut].copy_(ours[cut])
        expected[cut].copy_(theirs[cut])
        same_as_torch(into, expected)


PASSING = [
    "x - y",
    "T.sub(x, y, alpha=2)",
    "T.rsub(y, x)",
    "T.remainder(x, y)",
    "T.fmod(x, y)",
    "T.addcmul(x, y, y)",
    "T.addcdiv(x, y, y)",
    "T.frac(x)",
    "x.double() - y",
    "x[:1] - y",
]


@pytest.mark.parametrize("call", PASSING)
@pytest.mark.parametrize("wanted", ["x", "xy", "y"])
def test_gradients_that_pass(device, call, wanted):
    if wanted == "y" and "y" not in call:
        return
    results = []
    for t, where in ((rushlight, device), (torch, "cpu")):
        a = np.random.RandomState(0).uniform(0.5, 4, (2, 5, 1100)).astype(np.float32)
        x, y = (t.tensor(part, device=where) for part in a)
        for name in wanted:
            {"x": x, "y": y}[name].requires_grad_()
        out = eval(call, {"T": t, "x": x, "y": y})
        out.backward(t.ones_like(out) * 3)
        results.append([p.grad for p in (x, y)])
    for ours, theirs in zip(*results, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            same_as_torch(ours, theirs, rtol=None)


def test_gradients_of_lgamma_on_both_sides_of_zero(device):
    a = np.concatenate([np.linspace(-5.3, 9, 600), np.linspace(0.1, 40, 600)])
    grads = []
    for t, where in ((rushlight, device), (torch, "cpu")):
        x = t.tensor(a, device=where, requires_grad=True)
        t.lgamma(x).sum().backward()
        grads.append(x.grad)
    same_as_torch(*grads, rtol=1e-7)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool"])
@pytest.mark.parametrize("shape", [(300, 1, 133), (2, 40, 1, 517), (1, 90, 517), (70, 517, 1)])
def test_broadcast_along_outer_dimensions(dtype, shape, device):
    """What is computed once and copied is what is computed for each element."""
    T = rushlight
    T.manual_seed(1)
    x = T.randint(-9, 9, shape).to(getattr(T, dtype)).to(device)
    whole = tuple(n if n > 1 else 60 for n in shape)
    spread, dense = x.expand(whole), x.expand(whole).contiguous()
    wide = T.zeros(*whole[:-1], whole[-1] + 3, device=device).to(x.dtype)[..., :-3]
    calls = [lambda v: v == 1, lambda v: v.logical_not(), lambda v: T.where(v > 0, v, v.sign())]
    if dtype != "bool":
        calls += [lambda v: v.clamp(-2, 3), lambda v: 2 - v, lambda v: T.add(v, v, alpha=2)]
        calls += [lambda v: T.mul(v, v, out=wide.clone()), lambda v: T.neg(v, out=wide)]
    if x.is_floating_point():
        calls += [lambda v: v.exp(), lambda v: v.double() * v, lambda v: T.atan2(v, v + 1)]
    for call in calls:
        assert T.equal(call(spread), call(dense))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "uint8"])
def test_long_rows_of_a_wider_matrix(dtype, device):
    """Rows that lie dense, with gaps between them, in more elements than one thread takes."""
    T = rushlight
    T.manual_seed(2)
    x = T.randint(0, 9, (500, 300)).to(getattr(T, dtype)).to(device)
    part, row, column = x[:, :211], x[0, :211], x[:, 211:212]
    dense = part.contiguous()
    calls = [lambda v: v + row, lambda v: v * column, lambda v: column - v, lambda v: v * 3]
    calls += [lambda v: v > row, lambda v: T.where(v > 4, v, row)]
    for call in calls:
        assert T.equal(call(part), call(dense))
    copy = x.clone()
    copy[:, :211].add_(row)
    assert T.equal(copy[:, :211], dense + row) and T.equal(copy[:, 211:], x[:, 211:])


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "bfloat16", "float32", "float64"])
def test_short_rows(dtype, device):
    """Rows of a few elements are brought together in blocks, each in a few moves."""
    dtype = getattr(rushlight, dtype)
    rows = 300  # of which a block holds some
    for width in range(1, 20):
        wide = np.arange(rows * (2 * width + 3)).reshape(rows, -1) * 7 % 11 + 1
        x = rushlight.tensor(wide, device=device).to(dtype)
        parts = [
            (x[:, :width].contiguous(), wide[:, :width]),
            (x[:, 2 : 2 + width], wide[:, 2 : 2 + width]),  # of a wider matrix
            (x[:, 3:4], wide[:, 3:4]),
            (x[:, 1 : 2 * width : 2], wide[:, 1 : 2 * width : 2]),  # every second
            (x[5, :width], wide[5, :width]),
        ]
        column, third = parts[2]
        for (a, p), (b, q) in zip(parts, parts[1:] + parts[:1], strict=True):
            for found, expected in (
                (a + b, p + q), (a > b, p > q), (rushlight.addcmul(a, b, column), p + q * third)
            ):  # fmt: skip
                assert np.array_equal(found.cpu().double().numpy(), expected)
