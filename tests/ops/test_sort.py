"""Sorting, selection, distinct values and counts against torch, ties included where torch's answer
does not depend on the weather."""

import numpy as np
import pytest

import rushlight
from tests.compare import same_as_torch
from tests.conftest import REAL, ask, load_reference
from tests.ops.layouts import DTYPES, LAYOUTS, both

torch = load_reference()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sort_as_torch(dtype, layout, device):
    ours, theirs = both(LAYOUTS[layout], dtype, device)
    for d in range(-max(1, theirs.dim()), max(1, theirs.dim())):
        for descending in (False, True):
            a = ours.sort(dim=d, descending=descending, stable=True)
            same_as_torch(a, torch.sort(theirs, dim=d, descending=descending, stable=True))
            b = ours.argsort(dim=d, descending=descending, stable=True)
            same_as_torch(b, theirs.argsort(dim=d, descending=descending, stable=True))


def check_top(x, k, dim, largest, expected):
    """Among equals a GPU may choose others than the CPU's algorithm does."""
    ours = x.topk(k, dim, largest)
    same_as_torch(ours.values, expected.values)
    if not REAL:
        same_as_torch(ours.indices, expected.indices)
    elif x.dim():
        same_as_torch(x.gather(dim, ours.indices), expected.values)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "bool"])
def test_selection_as_torch(dtype, layout, device):
    ours, theirs = both(LAYOUTS[layout], dtype, device)
    for d in range(max(1, theirs.dim())):
        n = theirs.shape[d] if theirs.dim() else 1
        for k in {1, n // 2 or 1, n}:
            for largest in (True, False):
                check_top(ours, k, d, largest, theirs.topk(k, d, largest))
            same_as_torch(ours.kthvalue(k, d).values, theirs.kthvalue(k, d).values)
        same_as_torch(ours.median(d).values, theirs.contiguous().median(d).values)
        same_as_torch(ours.mode(d).values, theirs.mode(d).values)
        picked = ours.median(d, keepdim=True)
        if theirs.dim():
            same_as_torch(
                ours.gather(d, picked.indices), theirs.contiguous().median(d, True).values
            )
    same_as_torch(ours.median(), theirs.contiguous().median())


def test_nan_is_greatest(device):
    nan = float("nan")
    data = [3.0, nan, -1.0, nan, 0.0, -0.0, 2.0] * 50
    ours, theirs = rushlight.tensor(data, device=device), torch.tensor(data)
    same_as_torch(ours.sort(stable=True), theirs.sort(stable=True))
    same_as_torch(
        ours.sort(descending=True, stable=True), theirs.sort(descending=True, stable=True)
    )
    check_top(ours, 3, 0, True, theirs.topk(3))
    same_as_torch(ours.median(), theirs.median())
    same_as_torch(ours.nanmedian(), theirs.nanmedian())
    same_as_torch(ours.kthvalue(5).values, theirs.kthvalue(5).values)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "bfloat16", "float32", "float64"])
def test_lines_of_every_length(dtype, device):
    """Few elements are inserted, more are compared with each other: equals keep their order."""
    dtype = getattr(rushlight, dtype)
    for n in range(1, 42):
        x = (rushlight.arange(9 * n) * 37 % 101 % 7).to(dtype).reshape(9, n)
        for given in (x, rushlight.cat([x, x], 1)[:, ::2], x.t().contiguous().t()):
            for descending in (False, True):
                values, indices = given.to(device).sort(dim=1, descending=descending, stable=True)
                for row, v, i in zip(
                    given.tolist(), values.tolist(), indices.tolist(), strict=True
                ):
                    order = sorted(range(n), key=lambda k: -row[k] if descending else row[k])
                    assert i == order and v == [row[k] for k in order]


CALLS = {
    "x.sort(1).values": "SortBackward0",
    "x.sort(0, True)[0]": "SortBackward0",
    "x.topk(2).values": "TopkBackward0",
    "x.kthvalue(2, 0).values": "KthvalueBackward0",
    "x.kthvalue(2, 0, True)[0]": "KthvalueBackward0",
    "x.median()": "MedianBackward0",
    "x.median(1).values": "MedianBackward1",
    "x.nanmedian()": "NanmedianBackward0",
    "x.mode(1).values": "ModeBackward0",
    "T.msort(x)": "SortBackward0",
}


@pytest.mark.parametrize("call", CALLS)
def test_gradients_and_names(call, device):
    ours, theirs = both("m(3, 4)", "float64", device)
    values = []
    for module, x in ((rushlight, ours), (torch, theirs)):
        x.requires_grad_()
        y = eval(call, {"T": module, "x": x})
        assert y.grad_fn.name() == CALLS[call]
        (g,) = module.autograd.grad((y * y * y).sum(), x, create_graph=True)
        (h,) = module.autograd.grad((g * g).sum(), x)
        values.append((y, g, h))
    same_as_torch(*values, 1e-9)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("shape", ["m(40)", "m(3, 7)", "m(7, 3).t()", "m()", "m(0)"])
def test_distinct_values(dtype, shape, device):
    ours, theirs = both(shape, dtype, device)
    if dtype.startswith("float"):
        ours, theirs = (ours * 2).floor(), (theirs * 2).floor()
    same_as_torch(ours.unique(), theirs.unique())
    flags = {"return_inverse": True, "return_counts": True}
    same_as_torch(ours.unique(**flags), theirs.unique(**flags))
    same_as_torch(ours.unique_consecutive(**flags), theirs.unique_consecutive(**flags))
    if theirs.dim() == 2:
        for d in (0, 1):
            same_as_torch(ours.unique(dim=d, **flags), theirs.unique(dim=d, **flags))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "bfloat16", "float64"])
def test_runs(dtype, device):
    dtype = getattr(rushlight, dtype)
    flags = {"return_inverse": True, "return_counts": True}
    for n in (*range(42), 70_000):  # by definition; the last is looked at in pieces
        wide = (rushlight.arange(2 * n) * 7 % 11 % 4 // 2).to(dtype)
        for x in (wide[:n], wide[::2], wide[: n - n % 3].reshape(3, -1).t()):
            x = x.to(device)
            flat = x.reshape(-1).tolist()
            begins = [i for i, v in enumerate(flat) if i == 0 or v != flat[i - 1]]
            ends = [*begins[1:], len(flat)]
            values, inverse, counts = x.unique_consecutive(**flags)
            assert values.dtype is dtype and values.tolist() == [flat[i] for i in begins]
            assert counts.tolist() == [b - a for a, b in zip(begins, ends, strict=False) if flat]
            assert inverse.shape == x.shape and inverse.is_contiguous()
            assert values[inverse].tolist() == x.tolist() or not flat
            assert x.unique_consecutive().tolist() == values.tolist()
            assert x.unique_consecutive(return_counts=True)[1].tolist() == counts.tolist()


def test_runs_begin_with_their_first_element(device):
    nan = float("nan")
    x = rushlight.tensor([0.0, -0.0, nan, nan, -0.0, 0.0, 1.0, 1.0], device=device)
    values, counts = x.unique_consecutive(return_counts=True)
    assert repr(values.tolist()) == "[0.0, nan, nan, -0.0, 1.0]"
    assert counts.tolist() == [2, 1, 1, 2, 2]
    few = rushlight.ones(1000, device=device).unique_consecutive()
    assert few.tolist() == [1.0] and few.untyped_storage().nbytes() == 4  # not that of all


@pytest.mark.parametrize(
    "call",
    ["T.unique(x)", "T.unique(x, dim=0)", "T.unique_consecutive(x)", "x.unique_consecutive(dim=0)",
     "x.unique(return_inverse=True)[0]"],
)  # fmt: skip
def test_distinct_values_have_a_history_without_derivative(call, device):
    def found(t):
        x = t.ones(3, device=device if t is rushlight else "cpu", requires_grad=True)
        y = eval(call, {"T": t, "x": x})
        with pytest.raises(NotImplementedError) as error:
            y.sum().backward()
        return y.requires_grad, y.grad_fn.name(), str(error.value).splitlines()[0]

    assert found(rushlight) == ask(found)
    with rushlight.no_grad():
        assert not rushlight.ones(3, device=device, requires_grad=True).unique().requires_grad


def test_counts(device):
    x = [1, 5, 0, 1, 1]
    ours, theirs = rushlight.tensor(x, device=device), torch.tensor(x)
    same_as_torch(ours.bincount(), theirs.bincount())
    same_as_torch(ours.bincount(minlength=9), theirs.bincount(minlength=9))
    weights = [0.5, 1.0, 2.0, 0.25, 0.125]
    same_as_torch(
        ours.bincount(rushlight.tensor(weights, device=device)),
        theirs.bincount(torch.tensor(weights)),
    )
    for most in (7, 511, 512, 3000, 6000):
        many = rushlight.arange(2 * most, device=device) * 31 % most
        for given in (many, many[::3], many.int(), many.int()[::2], many.short()):
            expected = np.bincount(given.cpu().numpy(), minlength=5)
            assert given.bincount(minlength=5).tolist() == expected.tolist()
            halves = rushlight.full(given.shape, 0.5, device=device)
            assert given.bincount(halves, 5).tolist() == (expected * 0.5).tolist()
    with pytest.raises(RuntimeError, match="1-d non-negative"):
        rushlight.tensor([3, -1, 2], dtype=rushlight.int32, device=device).bincount()
    ours, theirs = both("m(300)", "float32", device)
    same_as_torch(ours.histc(20, -2, 2), theirs.histc(20, -2, 2))
    same_as_torch(ours.histc(7), theirs.histc(7))


def test_histogram(device):
    nan = float("nan")
    edges = rushlight.tensor([-1.0, 0.0, 0.5, 1.0, 1.0], device=device)
    for n in (*range(42), 3000):
        x = rushlight.arange(n) * 37 % 97 / 32 - 1.5
        x[n // 3 : n // 3 + 1] = nan
        if n > 2:
            x[1] = 1.0
        for given, bins in ((x, 4), (x.double(), 7), (x, edges)):
            of = {} if bins is edges else {"range": (-1.0, 1.0)}
            hist, found = given.to(device).histogram(bins, **of)
            assert hist.dtype is given.dtype and found.numel() == hist.numel() + 1
            e, expected = found.tolist(), [0.0] * hist.numel()
            for v in given.tolist():
                if e[0] <= v <= e[-1]:
                    expected[min(sum(b <= v for b in e), len(expected)) - 1] += 1
            assert hist.tolist() == expected
            ones = rushlight.ones_like(given, device=device)
            weighted = given.to(device).histogram(bins, weight=ones, **of)
            assert weighted.hist.tolist() == expected


def place(sequence, value, right):
    """The steps that torch takes, which matter where a NaN is among the elements."""
    low, high = 0, len(sequence)
    while low < high:
        middle = low + (high - low) // 2
        x = sequence[middle]
        if not (x > value if right else x >= value):
            low = middle + 1
        else:
            high = middle
    return low


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "bfloat16", "float64"])
def test_places_of_every_count(dtype, right, device):
    dtype = getattr(rushlight, dtype)
    for n in range(1, 42):
        row = (rushlight.arange(n) * 3 // 4 * 2).to(dtype)
        values = (rushlight.arange(n + 13) * 7 % (2 * n + 3)).to(dtype)
        if dtype.is_floating_point:
            values[n // 2] = row[n - 1 - n % 3 :] = float("nan")
        expected = [place(row.tolist(), v, right) for v in values.tolist()]
        row, values = row.to(device), values.to(device)
        assert rushlight.searchsorted(row, values, right=right).tolist() == expected
        wide = rushlight.stack([row, row], 1).t()  # a row for each, and elements apart
        places = rushlight.searchsorted(wide, values.expand(2, -1), right=right, out_int32=True)
        assert places.tolist() == [expected] * 2
        back = rushlight.arange(n - 1, -1, -1, device=device)
        by = rushlight.searchsorted(row.flip(0), values, right=right, sorter=back)
        assert by.tolist() == expected


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_places(dtype, right, device):
    ours, theirs = both("m(3, 9)", dtype, device)
    values, reference = both("m(3, 20)", dtype, device)
    ours, theirs = ours.sort(1).values, theirs.sort(1).values
    same_as_torch(
        rushlight.searchsorted(ours, values, right=right),
        torch.searchsorted(theirs, reference, right=right),
    )
    same_as_torch(
        rushlight.bucketize(values, ours[0], right=right, out_int32=True),
        torch.bucketize(reference, theirs[0].contiguous(), right=right, out_int32=True),
    )
    same_as_torch(
        rushlight.searchsorted(ours[0], 1.5), torch.searchsorted(theirs[0].contiguous(), 1.5)
    )
    order = rushlight.arange(8, -1, -1, device=device).expand(3, 9)
    same_as_torch(
        rushlight.searchsorted(ours.flip(1), values, right=right, sorter=order),
        torch.searchsorted(theirs, reference, right=right),
    )
    with pytest.raises(IndexError, match="sorter index out of range"):
        rushlight.searchsorted(ours, values, sorter=order + 5)


@pytest.mark.parametrize(
    "call",
    ["T.ones(2).topk(3)", "T.ones(2).topk(-1)", "T.ones(2).kthvalue(3)", "T.ones(2).kthvalue(0)",
     "T.empty(0, 2).median(0)", "T.empty(0).mode()", "T.ones(3).topk(1, dim=2)",
     "T.ones(2, dtype=T.bool).median()", "T.ones(2, dtype=T.bool).topk(1)",
     "T.bincount(T.tensor([-1]))", "T.bincount(T.ones(2))",
     "T.bincount(T.tensor([1, 2]), minlength=-1)", "T.histc(T.ones(3, dtype=T.int64))",
     "T.histc(T.ones(3), 4, 2, 1)", "T.searchsorted(T.ones(2, 3), T.ones(3, 3))",
     "T.bucketize(T.ones(2), T.ones(2, 2))"],
)  # fmt: skip
def test_errors_in_torch_s_words(call, on_device):
    with pytest.raises(Exception) as theirs:
        eval(call, {"T": torch})
    with pytest.raises(Exception) as ours:
        eval(call, {"T": rushlight})
    assert type(ours.value).__name__ == type(theirs.value).__name__
    assert str(ours.value).split("\n")[0].strip() == str(theirs.value).split("\n")[0].strip()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8", "bfloat16"])
@pytest.mark.parametrize("length", [7, 8, 100, 256, 257, 5000])
def test_ties_and_none(device, dtype, length):
    """Lines without equal numbers are ranked by comparing all; with them the old way decides."""
    for values in (rushlight.randperm(length) - length // 2, rushlight.arange(length) % 5):
        x = values.to(getattr(rushlight, dtype)).to(device)
        numbers = x.tolist()
        for descending in (False, True):
            order = sorted(range(length), key=lambda i: numbers[i], reverse=descending)
            ours = x.sort(descending=descending, stable=True)
            assert ours.values.tolist() == [numbers[i] for i in order]
            assert ours.indices.tolist() == order
            top = x.topk(5, largest=descending)
            assert top.values.tolist() == [numbers[i] for i in order[:5]]
            assert x[top.indices].tolist() == top.values.tolist()
        middle = x.median(0)
        assert middle.values.item() == sorted(numbers)[(length - 1) // 2]
        assert x[middle.indices].item() == middle.values.item()
        third = x.kthvalue(3)
        assert third.values.item() == sorted(numbers)[2] == x[third.indices].item()


def spread_keys(how, n):
    """n numbers whose distance and order make the kernels take one of their ways."""
    mixed = [(i * 7919 + 3) % n for i in range(n)]
    if how == "few values":
        return [m % 8 for m in mixed]
    if how == "equal high bits":  # the low ones decide, and must not be lost
        return [(1 << 60 if m % 3 else -(1 << 60)) + m // 2 for m in mixed]
    if how == "all bits":
        return [(m * 0x9E3779B97F4A7C15 % (1 << 64)) - (1 << 63) for m in mixed]
    return mixed


@pytest.mark.parametrize("n", [7, 100, 128, 129, 256, 257, 3000, 70000])
@pytest.mark.parametrize("how", ["mixed", "few values", "equal high bits", "all bits"])
def test_orders_are_stable_and_selections_exact(how, n, on_device):
    values = spread_keys(how, n)
    x = rushlight.tensor(values)
    order = sorted(range(n), key=values.__getitem__)
    assert x.argsort(stable=True).tolist() == order
    assert x.sort().values.tolist() == [values[i] for i in order]
    backward = sorted(range(n), key=lambda i: -values[i])
    assert x.argsort(stable=True, descending=True).tolist() == backward
    assert x.median().item() == values[order[(n - 1) // 2]]
    for k in (1, 5, n // 2, n):
        found = x.kthvalue(k)
        assert found.values.item() == values[order[k - 1]] == values[found.indices]
    for k in (1, 3, n // 64, n // 2):
        found = x.topk(k)
        assert found.values.tolist() == [values[i] for i in backward[:k]]
        assert x[found.indices].tolist() == found.values.tolist()
    assert x.unique().tolist() == sorted(set(values))


@pytest.mark.parametrize("n", [2, 3, 7, 16, 40, 700])
def test_indices_among_equals_as_torch(n, device):
    """torch takes the median where a stable order has it, kthvalue's by quickselect."""
    if REAL:
        pytest.skip("among equals a GPU may choose others")
    data = np.random.RandomState(n).randint(0, max(2, n // 5), (6, n))
    for dtype in ("float32", "int64", "uint8"):
        ours = rushlight.tensor(data.tolist(), device=device).to(getattr(rushlight, dtype))
        theirs = torch.tensor(data.tolist()).to(getattr(torch, dtype))
        same_as_torch(ours.median(1).indices, theirs.median(1).indices)
        same_as_torch(ours.nanmedian(1).indices, theirs.nanmedian(1).indices)
        for k in {1, 2, n // 2 + 1, n}:
            same_as_torch(ours.kthvalue(k).indices, theirs.kthvalue(k).indices)


def test_kthvalue_of_a_line_that_misleads_quickselect(device):
    """Each median of three is the second largest: the search goes on by introselect."""
    n = 1 << 15
    line = list(range(n))
    for high in range(n - 1, 3, -2):  # undoes the swaps of a round that leaves out two
        line[1], line[(high) // 2] = line[high // 2], line[1]
    x = rushlight.tensor(line, device=device)
    assert x.kthvalue(n // 3).values.item() == n // 3 - 1


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "bfloat16", "bool"])
def test_short_lines_of_every_length(dtype, device):
    """Up to twelve elements are compared in pairs: equals keep their order, in either direction."""
    rushlight.manual_seed(5)
    for n in range(1, 15):
        x = rushlight.randint(0, 4, (50, n)).to(getattr(rushlight, dtype))
        if x.is_floating_point():
            x[x == 3] = float("nan")  # greater than every number
        greatness = [[9 if v != v else v for v in row] for row in x.tolist()]
        for sign in (1, -1):
            orders = [sorted(range(n), key=lambda i: sign * row[i]) for row in greatness]
            for y, dim in ((x.to(device), 1), (x.to(device).t().contiguous(), 0)):
                values, indices = y.sort(dim=dim, descending=sign < 0, stable=True)
                assert (indices if dim else indices.t()).tolist() == orders
                same = values == y.gather(dim, indices)
                assert (same | (values != values)).all()
