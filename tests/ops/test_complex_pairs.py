"""Arithmetic of complex numbers against NumPy's in double, in lengths about a vector's, and in
memory of every order."""

import numpy
import pytest

import rushlight as torch
from tests.conftest import REAL
from tests.emulator import EMULATED

LENGTHS = [1, 3, 8, 17, 130] if EMULATED else [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 65, 130, 1030]
UNARY = {
    "abs": (torch.abs, numpy.abs),
    "conj": (lambda x: x.conj().resolve_conj(), numpy.conj),
    "neg": (torch.neg, numpy.negative),
    "sgn": (torch.sgn, lambda x: x / numpy.abs(x)),
    "square": (torch.square, numpy.square),
    "power": (lambda x: x**2, numpy.square),
    "reciprocal": (torch.reciprocal, lambda x: 1 / x),
    "+ 2": (lambda x: x + 2, lambda x: x + 2),
    "1j -": (lambda x: 1j - x, lambda x: 1j - x),
    "* 2": (lambda x: x * 2.0, lambda x: x * 2),
    "* 2j": (lambda x: x * 2j, lambda x: x * 2j),
    "/ (1 + 2j)": (lambda x: x / (1 + 2j), lambda x: x / (1 + 2j)),
    "1 /": (lambda x: 1 / x, lambda x: 1 / x),
}
BINARY = {
    "+": (torch.add, numpy.add),
    "+ 3": (lambda x, y: torch.add(x, y, alpha=3), lambda x, y: x + 3 * y),
    "-": (torch.sub, numpy.subtract),
    "- 3": (lambda x, y: torch.sub(x, y, alpha=3), lambda x, y: x - 3 * y),
    "*": (torch.mul, numpy.multiply),
    "/": (torch.div, numpy.divide),
}


def numbers(shape, dtype, device, seed):
    """Parts from 0.3 to 1.3, of either sign, and the same for NumPy."""
    random = numpy.random.default_rng(seed)
    parts = random.uniform(0.3, 1.3, (*shape, 2)) * random.choice([-1, 1], (*shape, 2))
    part = numpy.float32 if dtype == torch.complex64 else numpy.float64
    parts = parts.astype(part)
    x = torch.view_as_complex(torch.from_numpy(parts)).to(device)
    return x, parts[..., 0].astype(numpy.float64) + 1j * parts[..., 1]


def check(found, expected, dtype):
    real = not numpy.iscomplexobj(expected)
    assert found.dtype == (torch.float32 if dtype == torch.complex64 else torch.float64) or not real
    assert list(found.shape) == list(expected.shape)
    error = numpy.abs(found.cpu().numpy() - expected)
    assert (error <= (5e-7 if dtype == torch.complex64 else 1e-15) * numpy.abs(expected) + 1e-30
            if dtype == torch.complex128 and real
            else error <= (1e-6 if dtype == torch.complex64 else 2e-15) * (numpy.abs(expected) + 2)
            ).all(), error.max()  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_of_one(name, dtype, device):
    ours, theirs = UNARY[name]
    for n in LENGTHS:
        x, a = numbers((n,), dtype, device, n)
        check(ours(x), theirs(a), dtype)
    x, a = numbers((6, 5, 9), dtype, device, 0)
    check(ours(x[:, ::2]), theirs(a[:, ::2]), dtype)
    check(ours(x.permute(2, 0, 1)), theirs(a.transpose(2, 0, 1)), dtype)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_of_two(name, dtype, device):
    ours, theirs = BINARY[name]
    for n in LENGTHS:
        (x, a), (y, b) = numbers((n,), dtype, device, n), numbers((n,), dtype, device, n + 1)
        check(ours(x, y), theirs(a, b), dtype)
        check(ours(x, y.real), theirs(a, b.real), dtype)
        check(ours(x.imag.contiguous(), y), theirs(a.imag, b), dtype)
    x, a = numbers((20, 70), dtype, device, 0)
    y, b = numbers((20, 70), dtype, device, 1)
    for view in (lambda z: z[:, ::2], lambda z: z.T, lambda z: z[:1], lambda z: z[:, :1],
                 lambda z: z[3, 4], lambda z: z[:1, :1]):  # fmt: skip
        other, of = (y, b) if view(a).shape[-1:] != (20,) else (y.T, b.T)
        if view(a).shape == (20, 35):
            other, of = y[:, 35:], b[:, 35:]
        check(ours(view(x), other), theirs(view(a), of), dtype)
        check(ours(other, view(x)), theirs(of, view(a)), dtype)
        check(ours(other, view(x).real), theirs(of, view(a).real), dtype)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
@pytest.mark.parametrize("n", [1, 17, 400])
def test_in_place(n, dtype, device):
    (x, a), (y, b) = numbers((n,), dtype, device, n), numbers((n,), dtype, device, n + 1)
    for ours, theirs in (("mul_", "multiply"), ("div_", "divide"), ("add_", "add")):
        z, same = x.clone(), x.clone()
        version = z._version
        assert getattr(z, ours)(y) is z and z._version > version
        check(z, getattr(numpy, theirs)(a, b), dtype)
        check(getattr(same, ours)(same), getattr(numpy, theirs)(a, a), dtype)
        check(getattr(x.clone(), ours)(2j), getattr(numpy, theirs)(a, 2j), dtype)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        x.mul_(torch.ones(2, n, dtype=dtype, device=device))
    long = torch.ones(n + 1, dtype=dtype, device=device)
    with pytest.raises(RuntimeError, match="single memory location"):
        long[1:].mul_(long[:-1]) if n > 1 else long[:1].expand(3).mul_(2j)


def test_a_number_times_its_conjugate_is_real(device):
    if REAL:
        pytest.skip("a GPU multiplies and adds as one")
    for dtype in (torch.complex64, torch.complex128):
        x, _ = numbers((100,), dtype, device, 0)
        assert not (x * x.conj()).imag.any()


@pytest.mark.parametrize("name", ["*", "/", "+"])
def test_infinities_and_no_numbers(name, device):
    """Each part is what the formula makes of it, wherever an element lies in a vector."""
    special = [0.0, -0.0, 1.0, float("inf"), float("-inf"), float("nan")]
    parts = torch.tensor([[a, b] for a in special for b in special], device=device)
    z = torch.view_as_complex(parts)
    found = BINARY[name][0](z[:, None], z)
    for i in range(0, len(z), 9 if EMULATED else 1):
        for j in range(0, len(z), 7):
            one = BINARY[name][0](z[i], z[j])
            for part in ("real", "imag"):
                a, b = getattr(found[i, j], part).item(), getattr(one, part).item()
                assert a == b or (a != a and b != b)


def test_products_along_dimensions(device):
    for shape in ((7, 5, 6), (1, 13, 2), (4, 1, 1), (0, 3, 2), (3, 31, 2)):
        x, a = numbers(shape, torch.complex128, device, 0)
        for d in range(3):
            check(x.prod(d), a.prod(d), torch.complex128)
        check(x.prod(1, keepdim=True), a.prod(1, keepdims=True), torch.complex128)


@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients(create_graph, device):
    shape = (2, 2) if EMULATED else (3, 9)
    (x, _), (y, _) = (numbers(shape, torch.complex128, device, k) for k in (0, 1))
    r = y.real.clone()
    for f in (torch.mul, torch.div, lambda a, b: (a * b).abs(), lambda a, b: (a / b).sgn()):
        for other in (y, r):
            for first in (x, x[:1]):
                inputs = (first.clone().requires_grad_(), other.clone().requires_grad_())
                assert torch.autograd.gradcheck(f, inputs)
                if create_graph and not EMULATED:
                    assert torch.autograd.gradgradcheck(f, inputs)
