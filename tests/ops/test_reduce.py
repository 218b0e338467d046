"""Reductions against torch: values, dtypes, shapes, gradients twice, node names, errors; on every
layout and on the CPU and a virtual GPU."""

import itertools

import numpy as np
import pytest

import rushlight
from tests.compare import TOLERANCE, same_as_torch, values_of
from tests.conftest import REAL, load_reference
from tests.emulator import EMULATED
from tests.ops.layouts import DTYPES, LAYOUTS, both

torch = load_reference()

REDUCTIONS = ["sum", "mean", "prod", "amax", "amin", "any", "all", "count_nonzero", "nansum", "var",
              "std", "logsumexp", "max", "min", "argmax", "argmin", "norm", "aminmax",
              "nanmean"]  # fmt: skip
ONE_DIM = {"prod", "max", "min", "argmax", "argmin"}
FLOATING = {"mean", "var", "std", "norm", "nanmean", "logsumexp"}


def takes(name, dtype):
    if dtype == "bool":
        return name not in FLOATING | {"argmax", "argmin"}
    return dtype in TOLERANCE or name not in FLOATING


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("name", "dtype"), [p for p in itertools.product(REDUCTIONS, DTYPES) if takes(*p)]
)
@pytest.mark.filterwarnings("ignore")
def test_values_as_torch(name, dtype, layout, device):
    ours, theirs = both(LAYOUTS[layout], dtype, device)
    rtol = TOLERANCE.get(dtype, 0) * (10 if layout == "wide" else 1)  # many summands, which cancel
    if name != "logsumexp":
        same_as_torch(getattr(ours, name)(), getattr(theirs, name)(), rtol)
    if name == "aminmax":
        return
    for d in range(-theirs.dim(), theirs.dim()):
        same_as_torch(getattr(ours, name)(dim=d), getattr(theirs, name)(dim=d), rtol)
        if name != "count_nonzero":
            same_as_torch(
                getattr(ours, name)(dim=d, keepdim=True),
                getattr(theirs, name)(dim=d, keepdim=True),
                rtol,
            )
    if name in ONE_DIM or theirs.dim() < 2:
        return
    for dims in itertools.combinations(range(theirs.dim()), 2):
        same_as_torch(getattr(ours, name)(dim=dims), getattr(theirs, name)(dim=dims), rtol)


CALLS = {
    "x.sum()": "SumBackward0",
    "x.sum(0)": "SumBackward1",
    "x.sum((0, 1), keepdim=True)": "SumBackward1",
    "x.sum(dtype=T.float64)": "SumBackward0",
    "x.mean()": "MeanBackward0",
    "x.mean(1)": "MeanBackward1",
    "x.prod()": "ProdBackward0",
    "x.prod(1)": "ProdBackward1",
    "(x * T.tensor([[0.], [1.], [0.]], dtype=x.dtype, device=x.device)).prod(1)": "ProdBackward1",
    "x.max()": "MaxBackward1",
    "x.max(1).values": "MaxBackward0",
    "x.max(1, keepdim=True).values": "MaxBackward0",
    "x.min()": "MinBackward1",
    "x.min(0)[0]": "MinBackward0",
    "x.amax(1)": "AmaxBackward0",
    "x.amin((0, 1))": "AminBackward0",
    "x.aminmax().min": "AminmaxBackward0",
    "x.aminmax(dim=1).max": "AminmaxBackward0",
    "x.var()": "VarBackward0",
    "x.var(1, correction=0)": "VarBackward0",
    "x.std()": "StdBackward0",
    "x.std(0, unbiased=False)": "StdBackward0",
    "T.var_mean(x)[0]": "VarMeanBackward0",
    "T.std_mean(x, 0)[1]": "StdMeanBackward0",
    "x.logsumexp(1)": "LogsumexpBackward0",
    "x.logsumexp((0, 1))": "LogsumexpBackward0",
    "x.norm()": "LinalgVectorNormBackward0",
    "x.norm(1)": "LinalgVectorNormBackward0",
    "x.norm(3, 1)": "LinalgVectorNormBackward0",
    "x.norm(float('inf'))": "LinalgVectorNormBackward0",
    "x.norm(2, 0, True)": "LinalgVectorNormBackward0",
    "x.nansum(0)": "NansumBackward0",
    "x.nanmean(0)": "DivBackward0",
}


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


@pytest.mark.parametrize("to", ["int8", "int16", "int32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("name", ["sum", "nansum", "prod"])
def test_a_result_of_integers_is_cast_first(name, to, device):
    for values, dtype in (
        ([[0.5, 1.75, 100.0], [1.0, -1.0, 0.0]], "float32"),
        ([[0.5, 1.75, 100.0], [1.0, -1.0, 0.0]], "float16"),
        ([[1, 300, 128], [-1, 2, 128]], "int64"),
        ([[True, True], [True, False]], "bool"),
    ):
        found = []
        for module, where in ((rushlight, device), (torch, "cpu")):
            x = module.tensor(values, dtype=getattr(module, dtype), device=where)
            if dtype == "float32" and name == "nansum":
                x[0, 0] = float("nan")
            reduced, goal = getattr(module, name), getattr(module, to)
            found.append([reduced(x, dtype=goal), reduced(x, 0, dtype=goal),
                          reduced(x, 1, keepdim=True, dtype=goal)])  # fmt: skip
        for ours, theirs in zip(*found, strict=True):
            assert str(ours.dtype) == f"torch.{to}"
            same_as_torch(ours, theirs, 0)


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_gradients_of_products_with_and_without_a_graph(zeros, device):
    x = rushlight.arange(1.0, 13.0, dtype=rushlight.float64, device=device).reshape(3, 4)
    x[1, :zeros] = 0
    x.requires_grad_()
    for call in ("x.prod()", "x.prod(1)", "x.prod(0, keepdim=True)"):
        y = eval(call, {"x": x})
        seed = rushlight.arange(1.0, y.numel() + 1, dtype=x.dtype, device=device).reshape(y.shape)
        (quick,) = rushlight.autograd.grad(y, x, seed, retain_graph=True)
        (general,) = rushlight.autograd.grad(y, x, seed, create_graph=True)
        rushlight.testing.assert_close(quick, general.detach())


def test_equal_extremes_share_the_gradient(device):
    grads = []
    for module, where in ((rushlight, device), (torch, "cpu")):
        x = module.tensor([[1.0, 2.0, 2.0], [2.0, 0.0, 1.0]], device=where, requires_grad=True)
        (x.max() + 2 * x.amax(1).sum() + x.max(1).values.sum() + x.amin(0).sum()).backward()
        grads.append(x.grad)
    same_as_torch(*grads, 1e-6)


@pytest.mark.parametrize("call", ["amax()", "amin()", "max(0)", "min(0)", "sum()", "nansum()",
                                  "argmax()", "logsumexp(0)", "median()", "aminmax()"])  # fmt: skip
@pytest.mark.parametrize(
    "data",
    ["[1., nan, 3., nan]", "[inf, -inf, 1.]", "[-inf, -inf]", "[inf, 1.]",
     "[0.5] * 100 + [nan] + [2.] * 70"],
)  # fmt: skip
def test_nan_and_infinity(call, data, device):
    values = eval(data, {"nan": float("nan"), "inf": float("inf")})
    ours = rushlight.tensor(values, device=device)
    theirs = torch.tensor(values)
    same_as_torch(eval("x." + call, {"x": ours}), eval("x." + call, {"x": theirs}), 1e-6)


@pytest.mark.parametrize("dims", [0, 1, -1, (0, 1), (0, 2), (1, 2)])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_logsumexp_over_any_dimensions(dims, order, device):
    """Many elements, so that those far apart are first brought together."""
    x = np.arange(9 * 16 * 10).reshape(9, 16, 10) % 37 / 4
    x[0, :, 0], x[1, 3, 2], x[2, 2, 3] = -np.inf, np.inf, np.nan
    ours, theirs = (t.tensor(x).permute(order) for t in (rushlight, torch))
    ours = ours.to(device)
    for keepdim in (False, True):
        same_as_torch(ours.logsumexp(dims, keepdim), theirs.logsumexp(dims, keepdim), 1e-12)


@pytest.mark.parametrize(
    ("shape", "call"),
    [((0,), "sum()"), ((2, 0, 3), "sum(1)"), ((2, 0, 3), "prod(1)"), ((0,), "any()"),
     ((0,), "all()"), ((0,), "mean()"), ((0, 3), "mean(0)"), ((2, 0), "amax(0)"),
     ((0,), "logsumexp(0)"), ((0,), "norm()"), ((0, 3), "count_nonzero(0)"),
     ((2, 0), "max(0).values"), ((3, 0, 4, 0), "sum((1, 3))"), ((3, 0, 4, 0), "norm(dim=(1, 3))"),
     ((2, 0, 3, 0, 2), "logsumexp((1, 3))"), ((3, 0, 4, 2), "transpose(0, 3).prod(1)"),
     ((3, 0, 4, 2), "transpose(0, 3).mean((1, 3))"), ((3, 4, 0, 2), "nansum((0, 2))")],
)  # fmt: skip
def test_empty(shape, call, device):
    ours, theirs = rushlight.zeros(*shape, device=device), torch.zeros(*shape)
    same_as_torch(eval("x." + call, {"x": ours}), eval("x." + call, {"x": theirs}))


@pytest.mark.parametrize(
    "call",
    ["T.empty(0).max()", "T.empty(0, 3).max(0)", "T.empty(0, 3).amax(0)", "T.empty(0).argmax()",
     "T.empty(0, 3).argmax(0)", "T.empty(0).aminmax()", "T.ones(2, dtype=T.int64).mean()",
     "T.ones(2, dtype=T.int64).std()", "T.ones(2, dtype=T.int64).norm()", "T.ones(2).sum(5)",
     "T.ones(2, 2).sum((0, 0))", "T.ones(2, 2).max(dim=2)", "T.ones(2, dtype=T.bool).argmax()",
     "T.empty(0).norm(float('inf'))", "T.ones(2, 3).max(T.ones(4))"],
)  # fmt: skip
def test_errors_in_torch_s_words(call, on_device):
    with pytest.raises(Exception) as theirs:
        eval(call, {"T": torch})
    with pytest.raises(Exception) as ours:
        eval(call, {"T": rushlight})
    assert type(ours.value).__name__ == type(theirs.value).__name__
    assert str(ours.value).split("\n")[0].strip() == str(theirs.value).split("\n")[0].strip()


def test_results_go_where_out_says(device):
    x = rushlight.arange(6.0, device=device).reshape(2, 3)
    out = rushlight.empty(3, device=device)
    assert rushlight.sum(x, 0, out=out) is out
    assert out.tolist() == [3.0, 5.0, 7.0]
    values, indices = (
        rushlight.empty(2, device=device),
        rushlight.empty(2, dtype=rushlight.int64, device=device),
    )
    rushlight.max(x, 1, out=(values, indices))
    assert (values.tolist(), indices.tolist()) == ([2.0, 5.0], [2, 2])
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float"):
        rushlight.amax(x, 0, out=rushlight.empty(3, dtype=rushlight.int64, device=device))


def test_sums_stay_accurate(on_device):
    x = rushlight.full((10_000_000,), 0.1)
    assert x.sum().item() == pytest.approx(1e6, rel=1e-6)
    most = 5e-6 if REAL else 1e-6  # a GPU's threads sum columns in floats
    assert x.reshape(-1, 10).sum(0)[0].item() == pytest.approx(1e5, rel=most)
    ramp = rushlight.arange(1_000_000.0) + 1e6
    assert ramp.var().item() == pytest.approx(83333416666.667, rel=1e-6)


def test_named_results_print_as_torch_s(device):
    ours, theirs = rushlight.tensor([[1.0, 5.0]]), torch.tensor([[1.0, 5.0]])
    assert repr(ours.max(1)) == repr(theirs.max(1))
    assert repr(ours.aminmax()) == repr(theirs.aminmax())
    _, indices = ours.max(1)
    assert ours.max(1).indices.tolist() == indices.tolist() == [1]
    assert isinstance(ours.max(1), rushlight.return_types.max)


@pytest.mark.parametrize("dtype", ["int16", "int64", "bfloat16", "float32", "float64"])
def test_every_length_of_a_line(dtype, device):
    """Lines are cut into lanes and blocks, columns into groups: lengths around their sizes, with
    equals, NaNs and infinities among the elements. The first of equals is the extreme."""
    special = [float("nan"), float("inf"), -float("inf")] if dtype in TOLERANCE else []
    for n in [*range(1, 20), *range(30, 36), 48, *range(62, 67), 79, 127, 129, 1025, 2049, 4100]:
        x = np.random.RandomState(n).randint(-20, 20, (3, n)).astype("float64")
        for i, v in enumerate(special):
            x[i % 2, (7 * i + 3 * n) // 5 % n] = v
        mine = rushlight.tensor(x.tolist(), device=device).to(getattr(rushlight, dtype))
        many = 50 if not EMULATED else 30 if n == 33 else 5  # the emulator would take minutes
        for ours, values in (
            (mine, x), (mine.t().contiguous().t(), x), (mine.repeat(many, 1), np.tile(x, (many, 1)))
        ):  # fmt: skip
            for d in (0, 1):
                for name in ("max", "min"):
                    found, at = getattr(ours, name)(d)
                    np.testing.assert_array_equal(values_of(found), getattr(values, name)(d))
                    first = getattr(values, "arg" + name)(d)
                    np.testing.assert_array_equal(values_of(at), first)
                with np.errstate(invalid="ignore"):
                    sums = values.sum(d)
                np.testing.assert_allclose(values_of(ours.sum(d)), sums, rtol=0.02, atol=0.02)
                counts = np.count_nonzero(values, d)
                np.testing.assert_array_equal(values_of(ours.count_nonzero(d)), counts)
                np.testing.assert_array_equal(values_of(ours.amax(d)), values.max(d))
                np.testing.assert_array_equal(values_of(ours.argmin(d)), values.argmin(d))
        expanded = mine[:1].expand(40, n)
        np.testing.assert_array_equal(values_of(expanded.amax()), x[0].max())


@pytest.mark.parametrize("n", [1, 31, 32, 33, 2049] + [5000] * (not EMULATED))
@pytest.mark.parametrize("step", [2, 3, 5])
def test_rows_and_columns_of_elements_that_lie_apart(n, step, on_device):
    wide = rushlight.arange(6 * n * step, dtype=rushlight.float64).reshape(6, n * step) % 1009
    for dtype in (rushlight.float64, rushlight.bfloat16, rushlight.int32, rushlight.bool):
        x = wide.to(dtype)[:, ::step]
        dense = x.contiguous()
        for name in ("sum", "amax", "amin", "count_nonzero", "any", "all", "max", "min", "argmax"):
            if name == "argmax" and dtype is rushlight.bool:
                continue  # refused
            for dim in (0, 1):
                ours, right = (getattr(t, name)(dim) for t in (x, dense))
                for a, b in zip(
                    *([v] if hasattr(v, "dtype") else v for v in (ours, right)), strict=True
                ):
                    assert a.tolist() == b.tolist(), (name, dim, dtype)


def test_any_byte_but_zero_is_true(on_device):
    bytes_of = rushlight.tensor([0, 7, 255, 1] * 20, dtype=rushlight.uint8)
    x = bytes_of.view(rushlight.bool)
    assert [x.max().item(), x.min().item(), x.amax().item(), x.amin().item()] == [1, 0, 1, 0]
    assert x.max(0).indices == 1 and x.min(0).indices == 0
    assert x.count_nonzero() == 60 and x.any() and not x.all() and x[1:4].all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int64", "bool"])
def test_all_results_of_one_element(dtype, device):
    """Where what is kept repeats one element, whatever the axes: as of a copy."""
    one = rushlight.tensor([3, 1, 2], device=device).to(getattr(rushlight, dtype))
    for part, dims in itertools.product((one[:1], one), ((0,), (1,), (2,), (0, 2), (1, 2))):
        expanded = (
            part.view(-1, 1, 1).expand(-1, 40, 30) if len(part) > 1 else part.expand(7, 40, 30)
        )
        copy = rushlight.empty(expanded.shape, dtype=part.dtype, device=device).copy_(expanded)
        for name in ("sum", "amax", "amin", "count_nonzero", "var", "logsumexp"):
            if expanded.is_floating_point() or name not in FLOATING:
                found, known = getattr(expanded, name)(dims), getattr(copy, name)(dims)
                rushlight.testing.assert_close(found, known)
