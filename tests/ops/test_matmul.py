"""Matrix products against torch: values, layouts, dtypes, gradients of gradients, words."""

import itertools
from operator import mul

import pytest

import rushlight
from tests.ops.nn_compare import array, close, compare, functional

PRODUCTS = [
    ("mm", [(3, 4), (4, 5)]),
    ("mm", [(1, 70), (70, 1)]),
    ("bmm", [(2, 3, 4), (2, 4, 5)]),
    ("mv", [(3, 4), (4,)]),
    ("dot", [(4,), (4,)]),
    ("outer", [(3,), (4,)]),
    ("matmul", [(4,), (4, 5)]),
    ("matmul", [(3, 4), (4,)]),
    ("matmul", [(2, 3, 4), (4, 5)]),
    ("matmul", [(2, 3, 4), (4,)]),
    ("matmul", [(4,), (2, 4, 5)]),
    ("matmul", [(2, 1, 3, 4), (5, 4, 2)]),
    ("addmm", [(5,), (3, 4), (4, 5)]),
    ("addmm", [(3, 1), (3, 4), (4, 5)]),
    ("addmv", [(3,), (3, 4), (4,)]),
    ("baddbmm", [(3, 5), (2, 3, 4), (2, 4, 5)]),
    ("addbmm", [(3, 5), (2, 3, 4), (2, 4, 5)]),
    ("addr", [(3, 5), (3,), (5,)]),
]


@pytest.mark.parametrize(("name", "shapes"), PRODUCTS, ids=[f"{n}-{s}" for n, s in PRODUCTS])
def test_products(reference, device, name, shapes):
    arrays = [array(s, i) for i, s in enumerate(shapes)]
    node = {"addbmm": False, "addr": False, "outer": False, "matmul": False}.get(name)
    compare(reference, lambda t, *a: getattr(t, name)(*a), arrays, device, node=node)


@pytest.mark.parametrize("name", ["addmm", "addmv", "baddbmm", "addbmm", "addr"])
def test_beta_and_alpha(reference, device, name):
    shapes = dict(PRODUCTS)[name]
    arrays = [array(s, i) for i, s in enumerate(shapes)]

    def call(t, *a):
        return getattr(t, name)(*a, beta=0.5, alpha=-2.0)

    compare(reference, call, arrays, device, node=False)


@pytest.mark.parametrize("shapes", [[(3, 4), (5, 4)], [(2, 3, 4), (5, 4)], [(4,), (5, 4)]])
@pytest.mark.parametrize("bias", [False, True])
def test_linear(reference, device, shapes, bias):
    arrays = [array(s, i) for i, s in enumerate(shapes)] + ([array((5,), 9)] if bias else [])
    node = None if len(shapes[0]) == 2 else False
    compare(reference, lambda t, *a: functional(t, "linear")(*a), arrays, device, node=node)


def test_bilinear(reference, device):
    arrays = [array(s, i) for i, s in enumerate([(2, 3), (2, 4), (5, 3, 4), (5,)])]
    compare(reference, lambda t, *a: functional(t, "bilinear")(*a), arrays, device, node=False)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_floating_dtypes(reference, device, dtype):
    arrays = [array((7, 33), 1), array((33, 9), 2)]
    compare(reference, lambda t, *a: t.mm(*a), arrays, device, dtype=dtype, second=False)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_integers_wrap(reference, dtype, on_device):
    results = [
        t.mm(
            t.full((3, 50), 9, dtype=getattr(t, dtype)),
            t.full((50, 2), 11, dtype=getattr(t, dtype)),
        )
        for t in (rushlight, reference)
    ]  # on a GPU torch itself has no product of integers
    assert results[0].tolist() == results[1].tolist()


@pytest.mark.parametrize("size", [0, 3])
@pytest.mark.parametrize("inner", [0, 4])
def test_empty(reference, device, size, inner):
    for t, where in ((rushlight, device), (reference, "cpu")):
        out = t.mm(t.ones(size, inner, device=where), t.ones(inner, 2, device=where))
        assert out.tolist() == [[float(inner)] * 2] * size


def test_layouts(reference, device):
    for t, where in ((rushlight, device), (reference, "cpu")):
        base = t.arange(24.0, device=where).reshape(4, 6)
        views = [base[:, ::2], base.t()[:3].t(), base[::2, :3], base[:1, :3].expand(4, 3)]
        for v in views:
            assert t.mm(v, v.t()).tolist() == t.mm(v.contiguous(), v.t().contiguous()).tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_any_strides_on_any_device(device, dtype):
    """What a library takes as it lies, what is copied for it, and batches that repeat a matrix."""
    base = rushlight.arange(240.0).remainder(7).to(getattr(rushlight, dtype)).reshape(10, 24)
    here = base.to(device)

    def operands(t):
        yield t[:4, 1:7], t[:6, 3:8]
        yield t[:6, :4].t(), t[:3, 1:7].t()
        yield t[::2, ::3][:, :5], t.t()[::2][:5, ::3]
        yield t[:1, :5].expand(3, 5), t[:5, :1]
        yield t[0].as_strided((5, 4), (1, 1)), t[1].as_strided((4, 3), (2, 1))
        yield t[:8, :5].reshape(2, 4, 5), t[2:7, 3:5].expand(2, 5, 2)
        yield t[:, :12].reshape(10, 3, 4)[::3].transpose(0, 1), t[:, :8].reshape(10, 4, 2)[:3]
        yield t[:9:3, :8].reshape(3, 4, 2).transpose(1, 2), t[:9:3, :8:2].unsqueeze(2)

    for (a, b), (x, y) in zip(operands(base), operands(here), strict=True):
        product = rushlight.matmul(x, y).cpu().double()
        assert rushlight.equal(product, rushlight.matmul(a.double(), b.double())), (a, b)
        if a.dim() == 2:
            start = rushlight.ones(a.shape[0], b.shape[1]).to(a.dtype)
            sums = rushlight.addmm(start.to(device), x, y, beta=2, alpha=-1).cpu().double()
            assert rushlight.equal(sums, 2 - rushlight.matmul(a.double(), b.double()))


def test_out(reference, on_device):
    out = rushlight.empty(2, 2)
    assert rushlight.mm(rushlight.ones(2, 3), rushlight.ones(3, 2), out=out) is out
    assert out.tolist() == [[3.0, 3.0], [3.0, 3.0]]
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        rushlight.mm(rushlight.ones(2, 3), rushlight.ones(3, 2), out=out.double())


WRONG = [
    lambda t: t.mm(t.zeros(2), t.zeros(2, 3)),
    lambda t: t.mm(t.zeros(2, 3), t.zeros(4, 5)),
    lambda t: t.mm(t.zeros(2, 3), t.zeros(3, 5).double()),
    lambda t: t.mm(t.zeros(2, 3).bool(), t.zeros(3, 5).bool()),
    lambda t: t.bmm(t.zeros(2, 3), t.zeros(2, 3, 4)),
    lambda t: t.bmm(t.zeros(2, 3, 4), t.zeros(2, 3, 4)),
    lambda t: t.mv(t.zeros(2, 3), t.zeros(4)),
    lambda t: t.dot(t.zeros(3), t.zeros(4)),
    lambda t: t.matmul(t.zeros(()), t.zeros(4)),
    lambda t: t.matmul(t.zeros(2, 3, 4), t.zeros(5, 4, 6)),
    lambda t: t.addmm(t.zeros(3), t.zeros(2, 3), t.zeros(3, 5)),
    lambda t: t.addmm(t.zeros(5), t.zeros(2, 3).long(), t.zeros(3, 5)),
    lambda t: functional(t, "linear")(t.zeros(2, 3), t.zeros(4, 5), t.zeros(4)),
]


@pytest.mark.parametrize("call", WRONG, ids=range(len(WRONG)))
def test_wrong_calls_say_what_torch_says(reference, call, on_device):
    with pytest.raises(Exception) as theirs:
        call(reference)
    with pytest.raises(theirs.type) as ours:
        call(rushlight)
    assert str(ours.value).split("\n")[0] == str(theirs.value).split("\n")[0]


def test_large(reference, device):
    a, b = array((200, 300), 1).tolist(), array((300, 130), 2).tolist()
    ours = rushlight.mm(rushlight.tensor(a, device=device), rushlight.tensor(b, device=device))
    close(ours, reference.mm(reference.tensor(a), reference.tensor(b)), "float32")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("m", "k", "n"),
    [(1, 1, 1), (4, 4, 4), (5, 3, 8), (7, 64, 9), (30, 5, 2), (9, 2, 16), (64, 16, 3), (3, 65, 2),
     (2, 3, 17)],
)  # fmt: skip
def test_small_products(reference, device, m, k, n, dtype):
    """The way of few columns and the one beside it, on every layout of the operands."""
    torch = reference
    kind = getattr(rushlight, dtype)
    for left in (False, True):
        for right in (False, True):
            a, b = array((k, m) if left else (m, k), 1), array((n, k) if right else (k, n), 2)
            c = array((m, n), 3)

            def of(t, a=a, b=b, c=c, left=left, right=right):
                where = device if t is rushlight else "cpu"
                kind = getattr(t, dtype)
                x, y, z = (t.tensor(v.tolist(), dtype=kind, device=where) for v in (a, b, c))
                x, y = (x.t() if left else x), (y.t() if right else y)
                return x @ y, t.addmm(z, x, y, beta=0.5, alpha=2), t.addmm(z[0], x, y)

            for ours, theirs in zip(of(rushlight), of(torch), strict=True):
                assert ours.dtype == kind
                close(ours, theirs, dtype)


def test_operator(on_device):
    product = rushlight.ones(2, 3) @ rushlight.ones(3)
    assert product.tolist() == [3.0, 3.0]
    with pytest.raises(TypeError):
        rushlight.ones(2, 3) @ 2


# Whole numbers, so that every order of summing gives the same: what a plain loop finds.
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17])
def test_few_columns_in_every_layout(device, dtype, n):
    t = rushlight

    def layouts(rows, cols, start):
        x = (t.arange(rows * cols) * 7 + start).remainder(11).sub(5).to(getattr(t, dtype))
        x = x.view(rows, cols)
        wide = t.full((2 * rows, 2 * cols + 1), float("nan"), dtype=x.dtype)
        wide[::2, 1::2] = x
        yield x.to(device)
        yield x.t().contiguous().to(device).t()
        yield wide.to(device)[::2, 1::2]

    for m, k in [(1, 1), (3, 4), (4, 3), (5, 65), (9, 2)]:
        for left in layouts(m, k, 1):
            for right in layouts(k, n, 2):
                a, b = left.tolist(), right.t().tolist()
                wanted = [[sum(map(mul, row, column)) for column in b] for row in a]
                assert t.mm(left, right).tolist() == wanted
                base = t.ones(m, n, dtype=left.dtype, device=device)
                found = t.addmm(base, left, right, beta=2, alpha=3)
                assert found.tolist() == [[3 * v + 2 for v in row] for row in wanted]


def test_bfloat16_products(device):
    """Of every layout and odd size: the processor's own instructions take pairs along the depth."""
    sizes = [(4, 4, 300), (5, 33, 17), (13, 64, 65), (100, 7, 50), (64, 100, 1), (257, 129, 255)]
    sizes += [(2, 33, 300), (3, 70, 257), (65, 2, 128)]
    rushlight.manual_seed(0)
    for m, n, k in sizes:
        for left, right in itertools.product(range(3), repeat=2):

            def matrix(rows, columns, layout):
                if layout == 1:
                    return rushlight.randn(columns, rows).bfloat16().t()
                step = layout // 2 + 1  # 1, or 3 apart
                return rushlight.randn(2 * rows, step * columns).bfloat16()[::2, ::step]

            a, b, c = matrix(m, k, left), matrix(k, n, right), matrix(m, n, left)
            expected = a.double() @ b.double()
            size = a.double().abs() @ b.double().abs()
            a, b, c = a.to(device), b.to(device), c.to(device)
            error = ((a @ b).cpu().double() - expected).abs()
            assert (error <= size * 2**-18 + expected.abs() * 2**-8 + 1e-6).all()
            sums = rushlight.addmm(c, a, b, beta=0.5, alpha=2).cpu().double()
            both = 0.5 * c.cpu().double() + 2 * expected
            assert ((sums - both).abs() <= size * 2**-16 + both.abs() * 2**-7 + 1e-6).all()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("m,n,k", [(300, 70, 40), (40, 33, 1100), (530, 35, 2100), (35, 600, 64)])
def test_bfloat16_products_of_several_blocks(m, n, k, threads, device):
    """Sums of small whole numbers are exact, and rounded once."""
    before = rushlight.get_num_threads()
    rushlight.set_num_threads(threads)
    try:
        for left, right in itertools.product((False, True), repeat=2):
            a = rushlight.randint(-2, 3, (k, m) if left else (m, k))
            b = rushlight.randint(-2, 3, (n, k) if right else (k, n))
            a, b = a.t() if left else a, b.t() if right else b
            exact = a @ b
            a, b = (x.to(device, rushlight.bfloat16) for x in (a, b))
            assert (a @ b).tolist() == exact.bfloat16().tolist()
            c = rushlight.ones(n, m, dtype=a.dtype, device=device).t()
            assert rushlight.mm(a, b, out=c).tolist() == exact.bfloat16().tolist()
    finally:
        rushlight.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("threads", [1, 3])
def test_products_by_tiles(dtype, threads, device):
    """Of every layout, beyond the edges of blocks, panels and slabs. Of small whole numbers all
    sums are exact, whatever their order."""
    numpy = pytest.importorskip("numpy")
    random, before = numpy.random.default_rng(0), rushlight.get_num_threads()
    sizes = [(2, 40, 300), (3, 15, 700), (3, 150, 37), (7, 48, 90), (8, 130, 200), (16, 33, 600),
             (64, 257, 129), (129, 100, 1100), (300, 33, 17), (8200, 20, 70),
             (151, 49, 41), (153, 81, 530), (154, 65, 6), (158, 130, 4), (161, 190, 7),
             (160, 1000, 20)]  # fmt: skip
    rushlight.set_num_threads(threads)
    try:
        for m, n, k in sizes:
            for left, right in itertools.product(range(3), repeat=2):

                def matrix(rows, columns, layout):
                    """A tensor and its array: dense, transposed, or a part of wider rows."""
                    shape = (columns, rows) if layout == 1 else (rows, columns + 3 * layout)
                    values = random.integers(-4, 5, shape).astype(dtype)
                    both = rushlight.from_numpy(values).to(device), values
                    if layout == 1:
                        return [x.T for x in both]
                    return [x[:, layout : layout + columns] for x in both]

                (a, x), (b, y) = matrix(m, k, left), matrix(k, n, right)
                c, z = matrix(m, n, left)
                assert ((a @ b).cpu().numpy() == x @ y).all(), (m, n, k, left, right)
                found = rushlight.addmm(c, a, b, beta=2, alpha=-3).cpu().numpy()
                assert (found == 2 * z - 3 * (x @ y)).all(), (m, n, k, left, right)
    finally:
        rushlight.set_num_threads(before)
