"""Many short things one behind another: rows that are reversed or normalised, outputs in narrow
rows that are made of few elements, planes of a few pixels, lines of one element. Lengths lie about
those of a vector; the judge is the same computation in double precision, or in another shape."""

import numpy
import pytest

import rushlight as torch
from tests.emulator import EMULATED

ROWS = [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 33] if not EMULATED else [1, 4, 7, 12, 17]
DTYPES = [torch.bool, torch.int16, torch.float32, torch.int64, torch.complex128]


def numbers(*shape, dtype=torch.float32, device="cpu", seed=0):
    random = numpy.random.default_rng(seed)
    return torch.from_numpy(random.uniform(0.5, 1.5, shape)).to(dtype).to(device)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_reversed(dtype, device):
    for n in ROWS:
        x = (numbers(21, n + 2, seed=n) * 9).to(dtype).to(device)
        a = x.cpu().numpy()
        for view in (lambda z: z[:, 1:-1], lambda z: z[::2, :-2]):
            assert (view(x).flip(-1).cpu().numpy() == view(a)[:, ::-1]).all()
            assert (view(x).flip(0, 1).cpu().numpy() == view(a)[::-1, ::-1]).all()
        out = torch.zeros(21, n + 2, dtype=dtype, device=device)
        out[:, :-2].copy_(x[:, 2:].flip(1))
        assert (out.cpu().numpy()[:, :-2] == a[:, 2:][:, ::-1]).all()
        assert not out[:, -2:].any()


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "amax", "var"])
def test_narrow_outputs_of_few_elements(name, device):
    for outer in (1, 2, 37, 300) if not EMULATED else (2, 37):
        for rows in (1, 2, 3, 4, 8, 9):
            for width in (1, 2, 3, 4, 8, 15, 16, 17):
                if name == "var" and rows == 1:
                    continue
                x = numbers(outer, rows, width, device=device, seed=width)
                a = x.double().cpu().numpy()
                options = {"ddof": 1} if name == "var" else {}
                expected = getattr(numpy, name)(a, 1, **options)
                found = getattr(torch, name)(x, 1).cpu().numpy()
                numpy.testing.assert_allclose(found, expected, 3e-6, 1e-12)
    x = (numbers(40, 3, 4, seed=1) * 9).to(torch.int64).to(device)
    a = x.cpu().numpy()
    assert (x.sum(1).cpu().numpy() == a.sum(1)).all()
    assert (x[::2].prod(1).cpu().numpy() == a[::2].prod(1)).all()
    assert (x.permute(1, 0, 2).sum(0).cpu().numpy() == a.sum(1)).all()
    out = torch.zeros(4, 40, dtype=torch.int64, device=device)
    torch.sum(x, 1, out=out.t())
    assert (out.t().cpu().numpy() == a.sum(1)).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_groups_of_few_elements(dtype, device):
    tolerance = 2e-2 if dtype == torch.bfloat16 else 1e-5
    for shape, groups in (((9, 6, 2), 3), ((5, 8, 3, 1), 8), ((40, 4, 3), 4), ((3, 35, 1), 7),
                          ((17, 1, 12), 1), ((2, 12, 5), 6), ((33, 2, 7), 2)):  # fmt: skip
        x = numbers(*shape, dtype=dtype, device=device, seed=1)
        w, b = (numbers(shape[1], dtype=dtype, device=device, seed=k) for k in (2, 3))
        a = x.double().cpu().numpy().reshape(shape[0], groups, -1)
        a = (a - a.mean(-1, keepdims=True)) / numpy.sqrt(a.var(-1, keepdims=True) + 1e-5)
        a = a.reshape(shape[0], shape[1], -1)
        scaled = a * w.double().cpu().numpy()[:, None] + b.double().cpu().numpy()[:, None]
        plain = torch.nn.functional.group_norm(x, groups).double().cpu().numpy()
        found = torch.nn.functional.group_norm(x, groups, w, b).double().cpu().numpy()
        numpy.testing.assert_allclose(plain.reshape(a.shape), a, tolerance, 2 * tolerance)
        numpy.testing.assert_allclose(found.reshape(a.shape), scaled, tolerance, 2 * tolerance)


PLANES = [((1, 1), (4, 4)), ((2, 2), (4, 4)), ((2, 3), (5, 4)), ((4, 4), (2, 2)), ((8, 3), (3, 8)),
          ((8,), (5,)), ((1,), (8,)), ((3, 3), (3, 3))]  # fmt: skip


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear", "bicubic"])
@pytest.mark.parametrize("planes", [31, 32, 64, 65, 150])
def test_tiny_planes(mode, planes, device):
    """Many of them are resampled as each of them alone is."""
    for size, to in PLANES if not EMULATED else PLANES[1:3]:
        kind = "bilinear" if mode == "linear" and len(size) == 2 else mode
        if kind == "bicubic" and len(size) == 1:
            continue

        def resize(x, kind=kind, to=to):
            return torch.nn.functional.interpolate(x, to, mode=kind)

        x = numbers(1, planes, *size, device=device).requires_grad_()
        whole = resize(x)
        one = torch.cat([resize(p) for p in x.split(7, 1)], 1)
        torch.testing.assert_close(whole, one, rtol=2e-6, atol=2e-6)
        g = numbers(*whole.shape, device=device, seed=1)
        (of_whole,) = torch.autograd.grad(whole, x, g)
        (of_one,) = torch.autograd.grad(one, x, g)
        torch.testing.assert_close(of_whole, of_one, rtol=2e-6, atol=5e-6)


def test_lines_of_one_element(device):
    x = numbers(4, 1, 5, device=device)
    x[2, 0, 3] = float("nan")
    for found in (x.kthvalue(1, 1), x.mode(1), x.median(1), x.nanmedian(1)):
        assert found.values.shape == found.indices.shape == (4, 5)
        torch.testing.assert_close(found.values, x[:, 0], rtol=0, atol=0, equal_nan=True)
        assert found.indices.dtype == torch.int64
        assert not found.indices.any()
    for found in (x.sort(1), x.topk(1, 1), x.kthvalue(1, 1, keepdim=True)):
        torch.testing.assert_close(found.values, x, rtol=0, atol=0, equal_nan=True)
        assert found.indices.shape == x.shape
        assert not found.indices.any()
    turned = x.permute(2, 1, 0).requires_grad_()
    values, _ = turned.sort(1)
    assert values.stride() == turned.stride()
    values[:2].sum().backward()
    assert turned.grad.tolist() == [[[1.0] * 4]] * 2 + [[[0.0] * 4]] * 3


@pytest.mark.parametrize("n", [5, 12, 15, 16, 20])
def test_short_lines_scattered(n, device):
    random = numpy.random.default_rng(n)
    for shape in ((70, n), (3, 66, n), (2, n, 65), (1, n)):
        for d in range(len(shape)):
            size = shape[d]
            index = random.integers(0, size, shape)
            source = random.integers(0, 9, shape).astype(float)
            expected = numpy.ones(shape)
            where = list(numpy.indices(shape))
            where[d] = index
            numpy.add.at(expected, tuple(where), source)
            out = torch.ones(shape, dtype=torch.float64, device=device)
            i = torch.from_numpy(index).to(device)
            s = torch.from_numpy(source).to(device)
            assert (out.scatter_add(d, i, s).cpu().numpy() == expected).all()
            turned = i.mT.contiguous().mT
            assert (out.scatter_add(d, turned, s).cpu().numpy() == expected).all()
    bad = torch.zeros(70, n, dtype=torch.int64)
    bad[65, n - 1] = n
    if device == "cpu":
        out = torch.zeros(70, n)
        with pytest.raises((RuntimeError, IndexError), match="out of bounds"):
            out.scatter_add_(1, bad, torch.ones(70, n))
        assert not out.any()


def test_single_elements_added_and_put(device):
    random = numpy.random.default_rng(0)
    index = random.integers(-50, 50, 333)
    source = random.integers(0, 9, 333).astype(float)
    for low in (0, -50):
        at = numpy.where(index < 0, index + 50, index) if low == 0 else index
        i, s = torch.from_numpy(at).to(device), torch.from_numpy(source).to(device)
        x = torch.zeros(50, dtype=torch.float64, device=device)
        expected = numpy.zeros(50)
        numpy.add.at(expected, at, source)
        assert (x.index_put((i,), s, accumulate=True).cpu().numpy() == expected).all()
        if low == 0:
            assert (x.index_add(0, i, s).cpu().numpy() == expected).all()
        every_second = torch.zeros(100, dtype=torch.float64, device=device)[::2]
        every_second.index_put_((i,), s[0], accumulate=True)
        counts = numpy.bincount(at % 50, minlength=50)
        assert (every_second.cpu().numpy() == counts * source[0]).all()
        order = torch.from_numpy(random.permutation(50) + low).to(device)
        assert (x.index_put((order,), s[:50]).cpu().numpy()[order.cpu().numpy()]
                == source[:50]).all()  # fmt: skip
    if device == "cpu":
        x = torch.zeros(50)
        with pytest.raises(IndexError, match="out of"):
            x[torch.tensor([1, 50])] = 1.0
        assert not x.any()
