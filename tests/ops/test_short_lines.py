"""Lines of a few elements, of which several are taken side by side: selection, extremes, running
sums, nonzero and distances, at every length up to 41 and around the number taken together.
"""

import math

import pytest

import rushlight
from tests.compare import same_as_torch
from tests.conftest import REAL, load_reference

torch = load_reference()

LENGTHS = [*range(1, 20), 31, 32, 33, 41, 63, 64, 65]
COUNTS = [1, 15, 17, 33, 70, 130]  # lines
DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8"]


def given(count, n, dtype, seed=0):
    """Distinct numbers in each line, with a NaN in some; then some with equals too."""
    rushlight.manual_seed(seed + n + count)
    distinct = rushlight.rand(count, n).argsort(1) - (0 if dtype == "uint8" else n // 2)
    x = distinct.to(getattr(rushlight, dtype))
    if x.is_floating_point():
        x[::3, n // 2] = math.nan
    return x, (distinct % 5).to(x.dtype) if n > 2 else x.clone()


def layouts(x, device):
    """The same values as they lie: dense, transposed, every second element, in wider rows."""
    x = x.to(device)
    wide = rushlight.zeros(*(2 * s for s in x.shape), dtype=x.dtype, device=device)
    wide[::2, ::2] = x
    beside = rushlight.cat((x[:, :1], x, x[:, :1]), 1)[:, 1:-1]
    return x, x.T.contiguous().T, wide[::2, ::2], beside


def key(v):
    return (1, 0) if v != v else (0, v)


def from_above(v):
    return tuple(-part for part in key(v))


def same(a, b):
    return a == b or (a != a and b != b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", LENGTHS)
def test_order_of_short_lines(n, dtype, device):
    for count in COUNTS if n in (1, 5, 8, 16, 17) else COUNTS[1:3]:
        distinct, equals = given(count, n, dtype)
        for values in (distinct, equals):
            rows = values.tolist()
            up = [sorted(range(n), key=lambda i, r=row: key(r[i])) for row in rows]
            down = [sorted(range(n), key=lambda i, r=row: from_above(r[i])) for row in rows]
            nans = [sum(v != v for v in row) for row in rows]
            for x in layouts(values, device):
                assert x.sort(dim=1, stable=True).indices.tolist() == up
                assert x.sort(dim=1, descending=True, stable=True).indices.tolist() == down
                middle = x.median(1).indices.tolist()
                past = x.nanmedian(1).indices.tolist()
                for i, order in enumerate(up):
                    numbers = n - nans[i]
                    assert past[i] == order[max(0, (numbers - 1) // 2)]
                    assert middle[i] == (order[numbers] if nans[i] else order[(n - 1) // 2])
                if values is equals:
                    continue
                for k in {1, 2, n // 2, n} & set(range(1, n + 1)):
                    assert x.kthvalue(k, 1).indices.tolist() == [order[k - 1] for order in up]
                    assert x.topk(k, 1).indices.tolist() == [order[:k] for order in down]
                    low = x.topk(k, 1, largest=False)
                    assert low.indices.tolist() == [order[:k] for order in up]
                    assert all(
                        same(v, row[i])
                        for line, row, order in zip(low.values.tolist(), rows, up, strict=True)
                        for v, i in zip(line, order[:k], strict=True)
                    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_equals_as_torch(dtype, device):
    for n in (2, 3, 4, 5, 8, 12, 16, 17):
        x = given(35, n, dtype)[1]
        ours, theirs = x.to(device), torch.tensor(x.tolist(), dtype=getattr(torch, dtype))
        for k in {1, 2, n // 2, n}:
            a, b = ours.topk(k, 1), theirs.topk(k, 1)
            same_as_torch(a.values, b.values)
            c, d = ours.kthvalue(k, 1), theirs.kthvalue(k, 1)
            same_as_torch(c.values, d.values)
            if not REAL:
                same_as_torch(a.indices, b.indices)
                same_as_torch(c.indices, d.indices)
        same_as_torch(ours.mode(1).values, theirs.mode(1).values)


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
@pytest.mark.parametrize("n", LENGTHS)
def test_extremes_of_short_lines(n, dtype, device):
    for count in COUNTS[1:] if n < 9 else COUNTS[3:5]:
        x = given(count, n, "int8" if dtype == "bool" else dtype)[1]
        x = x > 1 if dtype == "bool" else x
        rows = x.tolist()
        for y in layouts(x, device):
            for name, pick in (("max", max), ("min", min)):
                best = [math.nan if any(v != v for v in row) else pick(row) for row in rows]
                where = [
                    next(i for i, v in enumerate(row) if same(v, b))
                    for row, b in zip(rows, best, strict=True)
                ]
                values, indices = getattr(y, name)(1)
                assert indices.tolist() == where
                for got in (values, getattr(y, "a" + name)(1), getattr(y.aminmax(dim=1), name)):
                    assert all(map(same, got.tolist(), best))
            assert y.any(1).tolist() == [any(row) for row in rows]


@pytest.mark.parametrize("n", LENGTHS)
def test_sums_of_short_lines(n, device):
    for dtype in ("float32", "float64", "bfloat16", "int64", "uint8"):
        for count in (17, 70, 300):
            x = (given(count, n, "int64", seed=1)[1].abs() % 3 + 1).to(getattr(rushlight, dtype))
            rows = x.tolist()
            total, running = [sum(row) for row in rows], []
            for row in rows:
                running.append([sum(row[: i + 1]) for i in range(n)])
            for y in layouts(x, device):
                assert y.sum(1).tolist() == total
                assert y.cumsum(1).tolist() == running
                few = y[:, :4]
                product = [[math.prod(row[: i + 1]) for i in range(min(n, 4))] for row in rows]
                assert few.cumprod(1).tolist() == product
                if y.is_floating_point():
                    mean = rushlight.tensor(total) / n
                    assert rushlight.allclose(y.mean(1).cpu().float(), mean, rtol=1e-2)


@pytest.mark.parametrize("n", LENGTHS)
def test_nonzero_of_short_lines(n, device):
    for shape in ((1, n), (33, n), (400, n), (5, 7, n), (2, 3, 11, n)):
        rushlight.manual_seed(n)
        x = rushlight.randint(0, 3, shape, device=device) - 1
        for y in (x, x == 0, x.float(), x.transpose(0, -1).contiguous().transpose(0, -1)):
            flat = y.reshape(-1).tolist()
            expected = []
            for at, v in enumerate(flat):
                if v:
                    place = []
                    for size in reversed(shape):
                        place.insert(0, at % size)
                        at //= size
                    expected.append(place)
            assert y.nonzero().tolist() == expected


@pytest.mark.parametrize("p", [0, 1, 2, 3, math.inf])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 17, 128, 129])
def test_distances_of_short_rows(d, p, device):
    for n, m in ((3, 9), (4, 7), (5, 8), (26, 17), (33, 31)):
        rushlight.manual_seed(d + n)
        x = rushlight.randint(-3, 4, (2, n, d)).double()
        y = rushlight.randint(-3, 4, (2, m, d)).double()
        difference = (x[:, :, None] - y[:, None]).abs()
        rows = x[0]
        pairs = (rows[:, None] - rows).abs()[rushlight.triu_indices(n, n, 1).unbind()]

        def length(a):
            if p == math.inf:
                return a.amax(-1)
            return (a != 0).sum(-1).double() if p == 0 else a.pow(p).sum(-1).pow(1 / p)

        for dtype, rtol in ((rushlight.float64, 1e-12), (rushlight.float32, 1e-5)):
            a, b = x.to(dtype).to(device), y.to(dtype).to(device)
            for mode in ("donot_use_mm_for_euclid_dist", "use_mm_for_euclid_dist"):
                got = rushlight.cdist(a, b, p, compute_mode=mode).cpu().double()
                near = 1e-2 if dtype is rushlight.float32 and "donot" not in mode else 1e-6
                rushlight.testing.assert_close(got, length(difference), rtol=rtol, atol=near)
            got = rushlight.nn.functional.pdist(a[0], p).cpu().double()
            rushlight.testing.assert_close(got, length(pairs), rtol=rtol, atol=0)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int16", "int64", "float64"])
@pytest.mark.parametrize("n", [*range(1, 20), 31, 41])
def test_converted_short_rows(n, dtype, device):
    """Operands that are read as another type, a short row after another."""
    for count in (5, 70, 900):
        x = given(count, n, dtype)[1].to(device)
        y = given(1, n, dtype, seed=3)[1].to(device)
        flat = [y.flatten().tolist()] * count
        for a in layouts(x, device):
            rows = list(zip(a.tolist(), flat, strict=True))
            assert (a > y).tolist() == [[p > q for p, q in zip(*r, strict=True)] for r in rows]
            assert (y == a).tolist() == [[p == q for p, q in zip(*r, strict=True)] for r in rows]
            ones = rushlight.ones(n, device=device)
            total, single = a + ones, a.double() + 1
            assert total.dtype is rushlight.result_type(a, ones)
            rushlight.testing.assert_close(
                total.double(), single, rtol=1e-2, atol=0, equal_nan=True
            )


@pytest.mark.parametrize("dtype", [d for d in DTYPES if "float" in d])
def test_running_extremes_keep_their_bits(dtype, device):
    for n in LENGTHS:
        for values in given(17, n, dtype):
            for x in layouts(values, device):
                for name, better in (("cummax", float.__ge__), ("cummin", float.__le__)):
                    got, at = getattr(x, name)(1)
                    expected = []
                    for row in values.tolist():
                        best = 0
                        for i, v in enumerate(row):
                            if v != v or (row[best] == row[best] and better(v, row[best])):
                                best = i
                            expected.append(best)
                    assert at.flatten().tolist() == expected
                    picked = x.gather(1, at)
                    assert all(map(same, got.flatten().tolist(), picked.flatten().tolist()))
