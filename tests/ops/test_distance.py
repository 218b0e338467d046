"""cdist and pdist against their definition, and their gradients against finite differences."""

import math

import pytest

import rushlight as rl
from rushlight.autograd import gradcheck, gradgradcheck

NORMS = [0, 0.5, 1, 1.5, 2, 3, math.inf]


def length(values, p):
    values = [abs(v) for v in values]
    if p == 0:
        return sum(v != 0 for v in values)
    if p == math.inf:
        return max(values, default=0)
    return sum(v**p for v in values) ** (1 / p)


def rows(*shape):
    generator = rl.Generator().manual_seed(sum(shape))
    return rl.randn(shape, dtype=rl.float64, generator=generator)


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("shape", [(3, 4, 2), (1, 1, 1), (17, 33, 19), (2, 0, 3), (3, 2, 0)])
def test_distances(device, shape, p):
    n, m, d = shape
    x, y = rows(n, d), rows(m, d)
    if n and m and d:
        y[0] = x[-1]
    for dtype, rtol in ((rl.float64, 1e-9), (rl.float32, 1e-4), (rl.bfloat16, 0.05)):
        a, b = x.to(dtype).to(device), y.to(dtype).to(device)
        mode = "donot_use_mm_for_euclid_dist"
        result = rl.cdist(a, b, p, compute_mode=mode)
        assert result.shape == (n, m) and result.dtype is dtype and result.is_contiguous()
        left, right = a.double().tolist(), b.double().tolist()
        for i in range(n):
            for j in range(m):
                pair = [s - t for s, t in zip(left[i], right[j], strict=True)]
                assert result[i, j].item() == pytest.approx(length(pair, p), rel=rtol, abs=1e-6)
        if n > 1 and d:
            own = rl.pdist(a, p)
            whole = rl.cdist(a, a, p, compute_mode=mode)
            first, second = rl.triu_indices(n, n, 1, device=device)
            assert rl.allclose(own.double(), whole[first, second].double(), rtol=rtol)


@pytest.mark.parametrize("p", NORMS)
def test_gradients(device, p):
    x, y = rows(2, 3, 4).to(device).requires_grad_(), rows(1, 5, 4).to(device).requires_grad_()
    assert gradcheck(lambda a, b: rl.cdist(a, b, p), (x, y))
    assert gradcheck(lambda a: rl.pdist(a, p), (x.detach()[0].requires_grad_(),))
    if p not in (0, 0.5):
        assert gradgradcheck(lambda a, b: rl.cdist(a, b, p), (x, y))
        assert gradgradcheck(lambda a: rl.pdist(a, p), (x.detach()[0].requires_grad_(),))
    equal = rl.ones(2, 3, device=device, requires_grad=True)
    (rl.cdist(equal, equal, p).sum() + rl.pdist(equal, p).sum()).backward()
    assert equal.grad.tolist() == [[0] * 3] * 2


def test_many_rows_go_through_a_product(device):
    x, y = rows(30, 4).to(device).requires_grad_(), rows(2, 4).to(device).requires_grad_()
    result = rl.cdist(x, y)
    assert result.grad_fn.name() == "EuclideanDistBackward0"
    exact = rl.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")
    assert exact.grad_fn.name() in ("ViewBackward0", "CdistBackward0")
    assert rl.allclose(result, exact)
    assert gradcheck(rl.cdist, (x, y)) and gradgradcheck(rl.cdist, (x, y))


def test_refusals(on_device):
    x = rl.ones(2, 3)
    for wrong, error in (
        (lambda: rl.cdist(x, rl.ones(2, 4)), "same number of columns"),
        (lambda: rl.cdist(x, x, -1), "non-negative p"),
        (lambda: rl.cdist(x, x, math.nan), "non-negative p"),
        (lambda: rl.cdist(x[0], x), "at least 2D"),
        (lambda: rl.cdist(x.long(), x), "floating-point"),
        (lambda: rl.pdist(x[0]), "2D tensors"),
        (lambda: rl.pdist(x, -1), "non-negative p"),
    ):
        with pytest.raises(RuntimeError, match=error):
            wrong()
    with pytest.raises(ValueError, match="not a valid value for compute_mode"):
        rl.cdist(x, x, compute_mode="fast")


@pytest.mark.parametrize("p", [0, 1, 2, 3, math.inf])
def test_rows_of_any_length(device, p):
    for d in range(1, 42):
        x = rows(3, d).to(device)
        x[1, ::3] = x[0, ::3]
        result = rl.pdist(x, p).tolist()
        first = x.tolist()
        for got, (i, j) in zip(result, ((0, 1), (0, 2), (1, 2)), strict=True):
            pair = [s - t for s, t in zip(first[i], first[j], strict=True)]
            assert got == pytest.approx(length(pair, p), rel=1e-9)
    x = rows(4, 41).to(device)
    for at in (0, 8, 16, 31, 40):  # a NaN wins in each lane
        x[2, at] = math.nan
        assert rl.pdist(x, p).isnan().tolist() == [p != 0 and 2 in (i, j) for i in range(4)
                                                   for j in range(i + 1, 4)]  # fmt: skip
        x[2, at] = 0.0
