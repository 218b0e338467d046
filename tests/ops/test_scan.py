"""Running sums, products and extremes against torch."""

import numpy
import pytest

import rushlight
import rushlight as T
from tests.compare import TOLERANCE, same_as_torch
from tests.conftest import load_reference
from tests.emulator import EMULATED
from tests.ops.layouts import DTYPES, LAYOUTS, both

torch = load_reference()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"])
def test_values_as_torch(name, dtype, layout, device):
    if name == "logcumsumexp" and dtype not in TOLERANCE:
        with pytest.raises(RuntimeError, match="logcumsumexp"):
            rushlight.ones(2, device=device).to(getattr(rushlight, dtype)).logcumsumexp(0)
        return
    ours, theirs = both(LAYOUTS[layout], dtype, device)
    for d in range(-max(1, theirs.dim()), max(1, theirs.dim())):
        same_as_torch(getattr(ours, name)(d), getattr(theirs, name)(d), 4 * TOLERANCE.get(dtype, 0))


CALLS = {
    "x.cumsum(1)": "CumsumBackward0",
    "x.cumprod(1)": "CumprodBackward0",
    "(x * T.tensor([1., 0., 2., 0.], dtype=x.dtype, device=x.device)).cumprod(1)":
        "CumprodBackward0",
    "x.cummax(1).values": "CummaxBackward0",
    "x.cummin(0)[0]": "CumminBackward0",
    "x.logcumsumexp(1)": "LogcumsumexpBackward0",
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_gradients_and_names(call, device):
    ours, theirs = both("m(3, 4)", "float64", device)
    values = []
    for module, x in ((rushlight, ours), (torch, theirs)):
        x.requires_grad_()
        y = eval(call, {"T": module, "x": x})
        assert y.grad_fn.name() == CALLS[call]
        (g,) = module.autograd.grad((y * y).sum(), x, create_graph=True)
        (h,) = module.autograd.grad((g * g * g).sum(), x)
        values.append((y, g, h))
    same_as_torch(*values, 1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_of_running_products_at_zeros(dtype, device):
    """Lines with no, one and several zeros; of a long one the work grows with its length only."""
    ours, theirs = both("m(6, 9)", dtype, device)
    for x in (ours, theirs):
        x[1, 3] = x[2, 0] = x[3, 8] = x[4, 2] = x[4, 5] = x[4, 6] = 0
        x[5] = 0
    for dim in (0, 1):
        gradients = []
        for x in (ours, theirs):
            leaf = x.clone().requires_grad_()
            y = leaf.cumprod(dim)
            (y * (y + 1) * x.cos()).sum().backward()
            gradients.append(leaf.grad)
        same_as_torch(*gradients, 4 * TOLERANCE[dtype])
    n = 2_000 if EMULATED else 100_000
    long = rushlight.ones(2 * n, device=device)
    long[n] = 0
    long.requires_grad_().cumprod(0).sum().backward()
    assert long.grad[n - 1] == 1 and long.grad[n] == n and long.grad[n + 1] == 0


def test_nan_wins(device):
    values = [1.0, float("nan"), 0.0, 2.0]
    ours, theirs = rushlight.tensor(values, device=device), torch.tensor(values)
    same_as_torch(ours.cummax(0), theirs.cummax(0))
    same_as_torch(ours.cummin(0), theirs.cummin(0))
    same_as_torch(ours.cumsum(0), theirs.cumsum(0))


def running(values, better):
    """By definition: of equals the last is the index, and a NaN wins."""
    best, at, result = values[0], 0, []
    for i, now in enumerate(values):
        if now != now or (best == best and better(now, best)):
            best, at = now, i
        result.append((repr(best), at))
    return result


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float32", "float64"])
def test_running_extremes(dtype, device):
    dtype = getattr(rushlight, dtype)
    for n in (*range(1, 42), 70_000):  # the last is walked in pieces
        x = (rushlight.arange(n) * 37 % 11 % 5 - 2).to(dtype)
        lines = [x]
        if dtype.is_floating_point:
            x[::4] = -x[::4]  # zeros of both signs
            lines += [x.clone(), x.clone(), x * 0]
            lines[1][n // 2 :: 7] = float("nan")
            lines[2][n - 1] = float("nan")
        for line in lines:
            expected = {
                "cummax": running(line.tolist(), lambda a, b: a >= b),
                "cummin": running(line.tolist(), lambda a, b: a <= b),
            }
            apart = rushlight.stack([line, line], 1).to(device)
            for name, answer in expected.items():
                for given, dim in ((line.to(device), 0), (apart, 0), (apart.t(), 1)):
                    values, indices = getattr(given, name)(dim)
                    if given.dim() > 1:
                        values, indices = values.select(1 - dim, 1), indices.select(1 - dim, 0)
                    pairs = zip(values.tolist(), indices.tolist(), strict=True)
                    assert [(repr(v), i) for v, i in pairs] == answer


@pytest.mark.parametrize("dtype, first, rest", [("bfloat16", 24, 0), ("float16", 10, -14)])
def test_sums_of_halves_are_held_in_float(dtype, first, rest):
    # what one element adds is lost in float, what all add would be seen if double held the sum
    sums = []
    for module in (rushlight, torch):
        x = module.full((200001,), 2.0**rest, dtype=getattr(module, dtype))
        x[0] = 2.0**first
        columns = x[:, None].expand(-1, 9).contiguous()
        sums.append((x.cumsum(0)[-1:], columns.cumsum(0)[-1:]))
    same_as_torch(*sums)
    assert sums[0][0].item() == 2.0**first


def test_empty_and_out(device):
    same_as_torch(rushlight.empty(0, 3, device=device).cummax(0), torch.empty(0, 3).cummax(0))
    out = rushlight.empty(3, device=device)
    rushlight.cumsum(rushlight.ones(3, device=device), 0, out=out)
    assert out.tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(IndexError, match="Dimension out of range"):
        rushlight.ones(3).cumsum(1)


@pytest.mark.parametrize("dtype", [T.float32, T.float64, T.bfloat16, T.int64, T.int32], ids=str)
@pytest.mark.parametrize("length", [1, 2, 7, 64, 65, 255, 256, 300])
def test_every_number_of_lines(length, dtype, device):
    """Lines that are taken by turns, and those that are left over."""
    for count in (1, 3, 4, 5, 8, 11) if not EMULATED else (1, 5):
        numbers = numpy.random.default_rng(length + count).integers(0, 2, (count, length, 2))
        x = T.tensor(numbers).to(dtype).to(device)
        for layout in (x[..., 0], x[..., 1].contiguous(), x.transpose(1, 2).contiguous()[:, 1]):
            ours = layout.cumsum(1).cpu().double().numpy()
            assert (ours == layout.cpu().double().numpy().cumsum(1)).all()
            signs = (1 - 2 * layout).cumprod(1).cpu().double().numpy()
            assert (signs == (1 - 2 * layout).cpu().double().numpy().cumprod(1)).all()
        running = x[..., 0].double().logcumsumexp(1).cpu().numpy()
        expected = numpy.log(numpy.exp(numbers[..., 0].astype("float64")).cumsum(1))
        numpy.testing.assert_allclose(running, expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_lines_of_every_short_length(dtype, device):
    """Short lines are transposed and walked side by side; float16 is widened in blocks."""
    if dtype == "bool":
        return
    for length in (1, 8, 33) if EMULATED else (*range(1, 10), 31, 32, 33, 255, 257, 600):
        for lines in (3, 70) if EMULATED else (1, 5, 16, 63, 65, 200):
            numbers = numpy.random.default_rng(length).integers(0, 3, (lines, length)) % 2
            x = rushlight.tensor(numbers).to(getattr(rushlight, dtype)).to(device)
            assert (x.cumsum(1).cpu().double().numpy() == numbers.cumsum(1)).all() or length > 255
            apart = rushlight.cat([x, x], 1)[:, :length]
            assert rushlight.equal(apart.cumsum(1), x.cumsum(1))
            assert rushlight.equal(x.t().contiguous().t().cumsum(1), x.cumsum(1))
            signs = 1 - 2 * numbers if dtype != "uint8" else 1 - numbers
            y = rushlight.tensor(signs).to(x.dtype).to(device)
            assert (y.cumprod(1).cpu().double().numpy() == signs.cumprod(1)).all()
    x[-1, 0] = float("nan") if "float" in dtype else 1
    assert x.cumprod(1).ne(x.cumprod(1)).any().item() == ("float" in dtype)
