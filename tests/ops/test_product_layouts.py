"""Products of matrices that lie in memory in other ways: transposed, in steps, one row for all."""

import itertools

import numpy as np
import pytest

import rushlight
from tests.emulator import EMULATED

LAYOUTS = {  # and whose values they have
    "contiguous": (lambda x: x, "all"),
    "transposed": (lambda x: x.mT.contiguous().mT, "all"),
    "steps": (lambda x: x.repeat_interleave(2, 1)[:, ::2], "all"),
    "one row": (lambda x: x[:1].expand(x.shape), "one row"),
    "one column": (lambda x: x[:, :1].expand(x.shape), "one column"),
}
SHAPES = [(1, 1, 1), (1, 9, 1), (5, 70, 1), (2050, 9, 1), (1, 5, 2050), (3, 4, 5), (4, 4, 4),
          (13, 64, 65), (7, 70, 9), (16, 31, 33), (37, 260, 40), (30, 2048, 7), (5, 0, 4),
          (0, 3, 2)]  # fmt: skip
ROUNDING = {"float64": 1e-14, "float32": 1e-6, "float16": 1e-3, "bfloat16": 8e-3}


def operand(rows, columns, dtype, seed):
    t = rushlight
    t.manual_seed(seed)
    x = t.randint(-9, 10, (rows, columns))
    x = x if dtype.startswith(("int", "uint")) else x / 7
    return x.to(getattr(t, dtype))


@pytest.mark.parametrize("dtype", [*ROUNDING, "int64", "int32", "int16", "int8", "uint8"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_layouts(shape, dtype, on_device):
    t = rushlight
    m, k, n = shape
    a, b = operand(m, k, dtype, 1), operand(k, n, dtype, 2)
    exact = dtype not in ROUNDING
    wide = t.int64 if exact else t.float64
    products = {}  # by the values of both: a product of the same values is computed once
    for of_a, of_b in itertools.product(LAYOUTS, LAYOUTS):
        if m * k * n == 0 and "one" in of_a + of_b:
            continue
        (lay_a, values_a), (lay_b, values_b) = LAYOUTS[of_a], LAYOUTS[of_b]
        x, y = lay_a(a), lay_b(b)
        if (values_a, values_b) not in products:
            terms = x.to(wide).contiguous()[:, :, None] * y.to(wide).contiguous()[None]
            products[values_a, values_b] = terms.sum(1)
        expected, found = products[values_a, values_b], x @ y
        if exact:
            assert t.equal(found, expected.to(x.dtype)), (of_a, of_b)
            continue
        far = ROUNDING[dtype] * (1 + expected.abs()) * (1 + k**0.5)
        assert (found.double() - expected).abs().le(far).all(), (of_a, of_b)
        c = operand(m, n, dtype, 3)
        for beta, alpha in ((1, 1), (0.5, 2)):
            sums = t.addmm(c, x, y, beta=beta, alpha=alpha).double()
            wanted = beta * c.double() + alpha * expected
            assert (sums - wanted).abs().le(3 * far + ROUNDING[dtype]).all(), (of_a, of_b)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "int64"])
def test_steps_between_the_results(dtype, on_device):
    t = rushlight
    a, b = operand(24, 36, dtype, 1), operand(36, 40, dtype, 2)
    wide = t.full((24, 80), 3, dtype=a.dtype)
    out = wide[:, ::2]
    t.mm(a, b, out=out)
    assert t.equal(out, a @ b)
    assert wide[:, 1::2].eq(3).all()


def test_a_product_of_a_nan_is_a_nan(on_device):
    t = rushlight
    a = t.ones(8, 32, dtype=t.bfloat16)
    a[3, 5] = float("nan")
    rows = (a @ t.ones(32, 32, dtype=t.bfloat16)).isnan()
    assert rows[3].all() and rows.sum() == 32
    assert (a @ t.ones(32, dtype=t.bfloat16)).isnan().tolist() == [i == 3 for i in range(8)]


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64", "int32"])
def test_every_number_of_rows(dtype, device):
    """As rows go in groups, the last of which may be the smaller one. Of small whole numbers all
    sums are exact, of bfloat16 too before the result is rounded."""
    t = rushlight
    rows, columns, depths = range(1, 42), (1, 7, 24, 33), (5, 128, 300)
    if EMULATED:
        rows, columns, depths = (9, 18, 33), (7, 33), (5, 128)
    of, kind = t.Generator().manual_seed(0), getattr(t, dtype)
    for k in depths:
        a = t.randint(-3, 4, (max(rows), k), generator=of)
        b = t.randint(-3, 4, (k, max(columns)), generator=of)
        exact = (a[:, :, None] * b[None]).sum(1).to(kind)
        for lay_a, lay_b in itertools.product(("contiguous", "transposed"), repeat=2):
            for m, n in itertools.product(rows, columns):
                x = LAYOUTS[lay_a][0](a[:m].to(kind).to(device))
                y = LAYOUTS[lay_b][0](b[:, :n].to(kind).to(device))
                assert t.equal((x @ y).cpu(), exact[:m, :n]), (m, n, k, lay_a, lay_b)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_a_bias_of_any_layout(dtype, device):
    t = rushlight
    of, kind = t.Generator().manual_seed(0), getattr(t, dtype)
    sizes = [(40, 64, 33), (5, 70, 40), (300, 40, 20), (64, 200, 130), (9, 200, 30), (40, 300, 90),
             (30, 1100, 70)]  # fmt: skip
    for m, k, n in sizes[:2] if EMULATED else sizes:
        a, b = t.randint(-3, 4, (m, k), generator=of), t.randint(-3, 4, (k, n), generator=of)
        wide = t.randint(-3, 4, (2 * n,), generator=of)
        exact = (a[:, :, None] * b[None]).sum(1)
        x, y = a.to(kind).to(device), b.to(kind).to(device)
        whole = wide.to(kind).to(device)
        for added in (whole[:n], whole[::2], whole[:1].expand(n)):
            wanted = (exact + added.cpu().long()).to(kind)
            assert t.equal(t.addmm(added, x, y).cpu(), wanted), (m, k, n, added.stride())
            found = t.nn.functional.linear(x, y.t().contiguous(), added)
            assert t.equal(found.cpu(), wanted), (m, k, n, added.stride())


KRONECKER = [  # short rows and long, few products and many, vectors, a batch; one factor is a row
    ((16, 8), (16, 9)), ((3, 4), (5, 6)), ((5, 6, 7), (9, 8)), ((40,), (600,)), ((600,), (40,)),
    ((1, 130), (130, 2)), ((130, 2), (1, 130)), ((4, 3, 5), (2, 5, 7, 5)), ((9, 5), (4, 300)),
    ((33, 1), (31, 17)), ((31, 17), (33, 1)), ((), (3, 2)), ((0, 3), (200, 100)),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), KRONECKER)
def test_kron(left, right, device):
    rushlight.manual_seed(1)
    double = {"dtype": rushlight.float64, "device": device, "requires_grad": True}
    a, b = rushlight.randn(left, **double), rushlight.randn(right, **double)
    product = rushlight.kron(a, b)
    expected = np.kron(a.detach().cpu().numpy(), b.detach().cpu().numpy())
    assert product.is_contiguous()
    np.testing.assert_array_equal(product.detach().cpu().numpy(), expected)
    weights = rushlight.randn(product.shape, dtype=a.dtype, device=device)
    gradients = rushlight.autograd.grad((product * weights).sum(), (a, b), create_graph=True)
    # the product is linear in each factor
    for x, g in zip((a, b), gradients, strict=True):
        assert rushlight.allclose((x * g).sum(), (product * weights).sum())
    if not a.numel():
        return
    (of_b,) = rushlight.autograd.grad(gradients[0].sum(), b)
    (same,) = rushlight.autograd.grad(
        (rushlight.kron(rushlight.ones_like(a), b) * weights).sum(), b
    )
    assert rushlight.allclose(of_b, same)
    whole = rushlight.kron(a.detach().mul(9).int(), b.detach().mul(9).to(rushlight.int16))
    assert whole.dtype is rushlight.int32
    of_numbers = np.kron((a * 9).int().tolist(), (b * 9).int().tolist())
    assert whole.tolist() == of_numbers.tolist()
    half = rushlight.kron(a.detach().bfloat16(), b.detach().bfloat16())
    assert half.dtype is rushlight.bfloat16 and half.is_contiguous()
    assert rushlight.allclose(half.double(), product, rtol=0.02)


def test_addr_keeps_what_it_does_not_read_and_rounds_each_step(device):
    nan = rushlight.full((3, 4), float("nan"), device=device)
    u, v = rushlight.arange(1.0, 4.0, device=device), rushlight.arange(4.0, device=device)
    assert rushlight.addr(nan, u, v, beta=0).equal(rushlight.outer(u, v))
    assert rushlight.addr(nan[0], u, v, beta=0, alpha=2).equal(2 * rushlight.outer(u, v))
    for kind in (rushlight.float16, rushlight.bfloat16):
        x, a, b = (t.to(kind) / 7 for t in (rushlight.ones_like(nan), u, v))
        assert rushlight.addr(x, a, b).equal(x + rushlight.outer(a, b))
    whole = rushlight.addr(rushlight.ones_like(nan).int(), u.long(), v.int(), beta=3, alpha=-2)
    assert whole.dtype is rushlight.int64
    assert whole.tolist() == (3 - 2 * rushlight.outer(u, v)).long().tolist()
    assert rushlight.addr(nan > 0, u > 1, v > 1).equal(rushlight.outer(u > 1, v > 1))
    with pytest.raises(RuntimeError, match="must match"):
        rushlight.addr(nan, v, v)


@pytest.mark.parametrize("dtype", ROUNDING)
def test_every_small_size(dtype, on_device):
    """Rows by 2, 4 and 6, columns by parts of one or two vectors, beside memory of others."""
    t = rushlight
    columns = (1, 5, 8, 17) if EMULATED else (*range(1, 35), 40)
    rows = (1, 3, 7) if EMULATED else (1, 2, 3, 4, 5, 6, 7, 11, 16)
    for m, n, k in itertools.product(rows, columns, (1, 3, 20)):
        a, b = operand(2 * m, k, dtype, m).view(2, m, k), operand(2 * k, n, dtype, n).view(2, k, n)
        expected = (a.double()[..., None] * b.double()[:, None]).sum(2)
        far = ROUNDING[dtype] * (1 + expected.abs()) * (1 + k**0.5)
        for x, y in itertools.product((a, a.mT.contiguous().mT), (b, b.mT.contiguous().mT)):
            assert (t.bmm(x, y).double() - expected).abs().le(far).all(), (m, n, k)
            inside = t.full((2, m + 2, n + 2), 7, dtype=a.dtype)
            t.bmm(x, y, out=inside[:, 1:-1, 1:-1])
            assert (inside[:, 1:-1, 1:-1].double() - expected).abs().le(far).all(), (m, n, k)
            inside[:, 1:-1, 1:-1] = 7
            assert inside.eq(7).all(), (m, n, k)


@pytest.mark.parametrize("dtype", ROUNDING)
def test_a_long_batch_of_small_products(dtype, on_device):
    t = rushlight
    a, b = operand(600 * 5, 7, dtype, 1).view(600, 5, 7), operand(600 * 7, 9, dtype, 2)
    b = b.view(600, 7, 9)
    expected = (a.double()[..., None] * b.double()[:, None]).sum(2)
    far = ROUNDING[dtype] * (1 + expected.abs()) * 4
    assert (t.bmm(a, b).double() - expected).abs().le(far).all()
    sums = t.baddbmm(b[:, :5], a, b, beta=0.5, alpha=2).double()
    assert (sums - b[:, :5].double() / 2 - 2 * expected).abs().le(4 * far).all()
    same = (a[:1].expand(600, 5, 7) @ b).double()
    terms = a[:1].double()[..., None] * b.double()[:, None]
    assert (same - terms.sum(2)).abs().le(2 * ROUNDING[dtype] * (1 + terms.abs().sum(2))).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_batch_of_views_is_copied_in_parts(dtype, on_device):
    """Overlapping windows and an expanded batch may stand for more than memory holds."""
    t = rushlight
    x = operand(1, 3000, dtype, 1).view(3000)
    windows = x.unfold(0, 100, 1)[:, None]  # (2901, 1, 100)
    same = operand(100, 2, dtype, 2)[None].expand(2901, 100, 2)
    expected = windows[:, 0].double() @ same[0].double()
    far = ROUNDING[dtype] * (1 + expected.abs()) * 11
    assert (t.bmm(windows, same)[:, 0].double() - expected).abs().le(far).all()
