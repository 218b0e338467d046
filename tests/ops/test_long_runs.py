"""Many elements that meet in one: a GPU sorts them and folds each run of equal indices in pieces of
256. Values are the CPU's, at sizes around a piece and in runs that begin anywhere.
"""

import pytest

import rushlight as T
from rushlight.nn import functional as F

SIZES = [1, 33, 255, 256, 257, 511, 513, 1025, 4097]


def numbers(n, kinds):
    """Indices below `kinds`, most of them equal."""
    T.manual_seed(n + kinds)
    index = T.randint(0, kinds, (n,))
    index[n // 7 : n - n // 5] = kinds // 2
    return index


def close(ours, cpu, tolerance=1e-4):
    assert ours.dtype == cpu.dtype
    T.testing.assert_close(ours.cpu(), cpu, rtol=1e-5, atol=tolerance)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kinds", [1, 2, 300])
def test_bincount(n, kinds, device):
    index = numbers(n, kinds)
    assert T.equal(index.to(device).bincount().cpu(), index.bincount())
    for weights in (T.rand(n), T.rand(n, dtype=T.float64), T.randint(0, 9, (2 * n,))[::2]):
        ours = index.to(device).bincount(weights.to(device), minlength=kinds + 3)
        close(ours, index.bincount(weights, minlength=kinds + 3))
    strided = index.repeat_interleave(2).to(device)[::2]
    close(strided.bincount(T.ones(n, device=device)), index.bincount(T.ones(n)))


@pytest.mark.parametrize("n", SIZES)
def test_bincount_and_scatter_repeat(n, device):
    index, values = numbers(n, 3).to(device), T.rand(n).to(device)
    first = index.bincount(values)
    assert all(T.equal(first, index.bincount(values)) for _ in range(3))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("dtype", [T.float32, T.int32])
def test_scatter_reduce(n, include_self, dtype, device):
    index = numbers(n, 5)
    start = T.arange(2, 8).to(dtype)
    values = T.ones(n, dtype=dtype) if dtype is T.int32 else 1 + T.rand(n) / n
    values[n // 2] = 3
    for reduce in ("sum", "prod", "amax", "amin", "mean"):
        if reduce == "mean" and dtype is T.int32:
            continue
        cpu = start.scatter_reduce(0, index, values, reduce, include_self=include_self)
        ours = start.to(device).scatter_reduce(
            0, index.to(device), values.to(device), reduce, include_self=include_self
        )
        close(ours, cpu)
    last = start.to(device).scatter(0, index.to(device), T.arange(n).to(dtype).to(device))
    assert T.equal(last.cpu(), start.scatter(0, index, T.arange(n).to(dtype)))


@pytest.mark.parametrize("n", SIZES)
def test_index_put_accumulates(n, device):
    rows, columns = numbers(n, 4), numbers(n, 3)
    values = T.rand(n, 5)
    cpu = T.zeros(4, 3, 5).index_put((rows, columns), values, accumulate=True)
    ours = T.zeros(4, 3, 5, device=device).index_put(
        (rows.to(device), columns.to(device)), values.to(device), accumulate=True
    )
    close(ours, cpu)
    close(
        T.ones(5, 4, device=device).index_add(1, rows.to(device), values.t().to(device)),
        T.ones(5, 4).index_add(1, rows, values.t()),
    )


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("options", [{}, {"padding_idx": 2}, {"scale_grad_by_freq": True}])
def test_gradients_of_embedding(n, options, device):
    index, gradient = numbers(n, 5), T.rand(n, 3)
    found = []
    for to in ("cpu", device):
        weight = T.ones(6, 3, device=to, requires_grad=True)
        F.embedding(index.to(to), weight, **options).backward(gradient.to(to))
        found.append(weight.grad)
    close(found[1], found[0])


@pytest.mark.parametrize("n", [*SIZES, 12289])
def test_mode(n, device):
    for x in (numbers(n, 7), T.arange(n) % 5, numbers(n, 9).float(), T.arange(n).flip(0)):
        ours, cpu = x.to(device).mode(0), x.mode(0)
        assert T.equal(ours.values.cpu(), cpu.values)
        assert (x[ours.indices.cpu()] == cpu.values).all()
        assert T.equal(ours.indices.cpu(), cpu.indices)
    x = numbers(n, 3).float()
    x[: n // 2 + 1] = float("nan")  # each of which is a kind of its own
    T.testing.assert_close(x.to(device).mode(0).values.cpu(), x.mode(0).values, equal_nan=True)
    lines = T.stack([numbers(n, 4), numbers(n, 2), T.arange(n)], 1)
    ours, cpu = lines.to(device).mode(0), lines.mode(0)
    assert T.equal(ours.values.cpu(), cpu.values) and T.equal(ours.indices.cpu(), cpu.indices)


@pytest.mark.parametrize("columns", [1, 2, 4096, 4097, 20000])
@pytest.mark.parametrize("dtype", [T.float32, T.float64])
def test_multinomial(columns, dtype, device):
    p = T.zeros(3, columns, dtype=dtype)
    p[0, columns // 2] = 0.25  # certain
    p[1, ::3] = 1  # two of three columns never
    p[2] = T.arange(columns) + 1
    drawn = T.multinomial(p.to(device), 2000, replacement=True).cpu()
    assert drawn.shape == (3, 2000) and drawn.min() >= 0 and drawn.max() < columns
    assert (drawn[0] == columns // 2).all()
    assert (drawn[1] % 3 == 0).all()
    mean = (p[2] * T.arange(columns)).sum() / p[2].sum()
    assert abs(drawn[2].double().mean() - mean.double()) <= 0.05 * columns
    assert T.equal(
        T.multinomial(p.t().contiguous().t()[:1].to(device), 5, True).cpu(),
        T.full((1, 5), columns // 2),
    )
    for bad in (-1.0, float("nan"), float("inf")):
        p[1, columns - 1] = bad
        with pytest.raises(RuntimeError, match="probability tensor contains"):
            T.multinomial(p.to(device), 1)
    with pytest.raises(RuntimeError, match="sum of probabilities <= 0"):
        T.multinomial(T.zeros(2, columns, device=device), 1)


@pytest.mark.parametrize("rows, width", [(1, 40), (2, 15), (2, 16), (7, 31), (7, 33), (20, 257),
                                         (300, 17), (3, 4099)])  # fmt: skip
def test_unique_rows(rows, width, device):
    T.manual_seed(rows + width)
    x = T.randint(0, 2, (rows, width))
    x[:, : width - 2] = x[: (rows + 2) // 3].repeat(3, 1)[:rows, : width - 2]  # most rows twice
    for values in (x, x.float(), (x.double() - 0.5) * T.arange(1, width + 1)):
        for dim in (0, 1):
            cpu = T.unique(values, dim=dim, return_inverse=True, return_counts=True)
            ours = T.unique(values.to(device), dim=dim, return_inverse=True, return_counts=True)
            for a, b in zip(ours, cpu, strict=True):
                assert T.equal(a.cpu(), b)
    strided = T.stack([x, -x], 2).to(device)[..., 1]
    assert T.equal(strided.unique(dim=0).cpu(), (-x).unique(dim=0))
    missing = x.float()
    missing[0, width - 1] = float("nan")  # differs from itself
    assert missing.to(device).unique(dim=0).shape == missing.unique(dim=0).shape
