"""Arithmetic of complex numbers: values, gradients and their gradients, dtypes and refusals, all as
PyTorch's.
"""

import math

import pytest

import rushlight
from tests.conftest import ask

pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf support")
A = [[1.5 + 2j, -3 + 0.25j, 0.5j], [2 - 1j, 1 + 1j, -0.75 - 2j]]
B = [[0.5 - 1j, 2 + 2j, -1.25 + 0j], [3j, -2 - 0.5j, 1 - 1j]]
ROW = [2.0, -0.5, 1.25]
CALLS = {
    "add": lambda t, a, b, r: a + b,
    "add, alpha": lambda t, a, b, r: t.add(a, b, alpha=-2.5),
    "add of real numbers": lambda t, a, b, r: r + a,
    "add of a number": lambda t, a, b, r: 2 + a,
    "sub": lambda t, a, b, r: t.sub(a, b, alpha=3),
    "sub of real numbers": lambda t, a, b, r: a - r,
    "rsub": lambda t, a, b, r: t.rsub(a, b, alpha=2),
    "a number less": lambda t, a, b, r: 1.5 - a,
    "mul": lambda t, a, b, r: a * b,
    "mul by a row": lambda t, a, b, r: a * b[0],
    "mul by real numbers": lambda t, a, b, r: r * a,
    "mul by a number": lambda t, a, b, r: a * 3,
    "div": lambda t, a, b, r: a / b,
    "div by real numbers": lambda t, a, b, r: a / r,
    "div of real numbers": lambda t, a, b, r: r / a,
    "div by a number": lambda t, a, b, r: a / -4,
    "a number by": lambda t, a, b, r: 2 / a,
    "neg": lambda t, a, b, r: -a,
    "abs": lambda t, a, b, r: a.abs(),
    "sgn": lambda t, a, b, r: a.sgn() * b,
    "angle": lambda t, a, b, r: a.angle(),
    "square": lambda t, a, b, r: a.square(),
    "reciprocal": lambda t, a, b, r: a.reciprocal(),
    "conj": lambda t, a, b, r: a.conj() * b,
    "conj_physical": lambda t, a, b, r: t.conj_physical(a) + 0 * b,
    "adjoint": lambda t, a, b, r: a.mH * b.adjoint(),
    "real and imag": lambda t, a, b, r: a.real * b.imag,
    "pairs": lambda t, a, b, r: t.view_as_real(a).sin() * 2,
    "pairs and back": lambda t, a, b, r: t.view_as_complex(t.view_as_real(a).cos()) * b,
    "complex": lambda t, a, b, r: t.complex(r, a.imag) * b,
    "polar": lambda t, a, b, r: t.polar(a.real.exp(), r) * t.polar(r.exp(), b.imag),
    "sum": lambda t, a, b, r: (a * b).sum(),
    "sum of rows": lambda t, a, b, r: a.sum(0, keepdim=True) * b,
    "mean": lambda t, a, b, r: a.mean(-1) * b.mean(),
    "expand": lambda t, a, b, r: a[0].expand(2, 3) * b,
    "as float64": lambda t, a, b, r: a.to(t.complex128) * b,
}


def leaves(torch, dtype, device):
    kind = getattr(torch, dtype)
    a, b = (torch.tensor(x, dtype=kind, device=device).requires_grad_() for x in (A, B))
    return a, b, torch.tensor(ROW, dtype=a.real.dtype, device=device, requires_grad=True)


def followed(torch, call, dtype, device="cpu"):
    """The result, its node, the gradients of a real function of it, and theirs."""
    inputs = leaves(torch, dtype, device)
    out = call(torch, *inputs)
    pairs = torch.view_as_real(out) if out.is_complex() else out
    weight = torch.arange(1, pairs.numel() + 1, dtype=pairs.dtype, device=device)
    loss = ((pairs.reshape(-1) * weight).sin() * weight).sum()
    first = torch.autograd.grad(loss, inputs, create_graph=True, allow_unused=True)
    size = sum((g.abs() * g.abs()).sum() for g in first if g is not None)
    second = [None] * 3
    if size.requires_grad:
        second = torch.autograd.grad(size, inputs, allow_unused=True)
    grads = [None if g is None else (str(g.dtype), g.tolist()) for g in (*first, *second)]
    return str(out.dtype), list(out.shape), type(out.grad_fn).__name__, out.tolist(), grads


def close(ours, theirs, tolerance):
    if isinstance(theirs, list | tuple):
        assert len(ours) == len(theirs)
        for x, y in zip(ours, theirs, strict=True):
            close(x, y, tolerance)
    elif isinstance(theirs, int | float | complex):
        assert abs(ours - theirs) <= tolerance * (1 + abs(theirs)), (ours, theirs)
    else:
        assert ours == theirs


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name, dtype, device):
    ours = followed(rushlight, CALLS[name], dtype, device)
    theirs = ask(lambda torch: followed(torch, CALLS[name], dtype))
    close(ours, theirs, 1e-10 if dtype == "complex128" else 2e-3)


DTYPES = "bool uint8 int64 bfloat16 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("scalar", [False, True])
def test_dtypes_of_results(scalar, device):
    def table(torch, device="cpu"):
        found = {}
        for a in DTYPES[-2:]:
            for b in DTYPES:
                x = torch.ones(2, dtype=getattr(torch, a), device=device)
                y = torch.ones(() if scalar else 2, dtype=getattr(torch, b), device=device)
                found[a, b] = [str(z.dtype) for z in (x * y, y + x, y[None] * x[0], x / y)]
        return list(found.items())

    assert table(rushlight, device) == ask(table)


def test_what_has_no_number(device):
    """Division by 0, and infinities."""

    def run(torch, device="cpu"):
        inf, nan = math.inf, math.nan
        x = torch.tensor([1 + 1j, -2j, 0j, complex(inf, 1), complex(nan, 1)], device=device)
        pieces = [
            x / 0,
            x / torch.zeros(5, device=device),
            x * 2,
            x + 1,
            x.abs(),
            x.angle(),
            x == x,
            x != 0,
        ]
        return [repr(p.cpu()) for p in pieces]

    assert run(rushlight, device) == ask(run)


def test_in_place_and_out(device):
    def run(torch, device="cpu"):
        a, b, _ = (x.detach() for x in leaves(torch, "complex64", device))
        kept = []
        for name in ("add_", "sub_", "mul_", "div_"):
            c = a.clone()
            assert getattr(c, name)(b) is c
            kept.append(c.tolist())
        out = torch.empty(0, dtype=torch.complex64, device=device)
        assert torch.mul(a, b, out=out) is out
        wide = torch.empty(2, 3, dtype=torch.complex128, device=device)
        kept += [out.tolist(), torch.add(a, b, out=wide).tolist()]
        size = torch.empty(2, 3, device=device)
        kept += [torch.abs(a, out=size).tolist(), torch.polar(size, size, out=out).tolist()]
        a.requires_grad_()
        c = a * 2
        c *= b
        (c.abs() ** 2).sum().backward()
        a.grad += 1
        return kept, a.grad.tolist()

    close(run(rushlight, device), ask(run), 1e-5)


REFUSED = {
    "polar of two dtypes": lambda t: t.polar(t.ones(2), t.ones(2).double()),
    "polar of integers": lambda t: t.polar(t.ones(2).int(), t.ones(2)),
    "polar of a number": lambda t: t.polar(t.ones(2), 1.0),
    "polar of half": lambda t: t.polar(t.ones(2).half(), t.ones(2).half()),
    "a real target": lambda t: t.ones(2).mul_(t.ones(2, dtype=t.complex64)),
    "a real out": lambda t: t.add(*[t.ones(2, dtype=t.complex64)] * 2, out=t.ones(2)),
    "shapes": lambda t: t.ones(2, dtype=t.complex64) * t.ones(3),
    "abs_": lambda t: t.ones(2, dtype=t.complex64).abs_(),
    "a sum that is complex": lambda t: (
        t.ones(2, dtype=t.complex64).requires_grad_().sum().backward()
    ),
    "a real gradient": lambda t: (
        t.ones(2, dtype=t.complex64).requires_grad_().mul(2).backward(t.ones(2))
    ),
    "a leaf": lambda t: t.ones(2, dtype=t.complex64).requires_grad_().mul_(2),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_torchs_words(name):
    def run(torch):
        with pytest.raises((RuntimeError, TypeError)) as caught:
            REFUSED[name](torch)
        return type(caught.value).__name__, str(caught.value).splitlines()[0]

    (kind, words), (their_kind, theirs) = run(rushlight), ask(run)
    assert kind == their_kind and words[:40] == theirs[:40]


def test_writes_through_the_parts_are_recorded(device):
    z = rushlight.ones(2, dtype=rushlight.complex64, device=device)
    x = rushlight.tensor([2.0, 5.0], requires_grad=True, device=device)
    leaf = z.clone().requires_grad_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        leaf.real.mul_(2)
    z.real.mul_(x)
    assert z.requires_grad and z.tolist() == [2, 5]
    z.abs().square().sum().backward()
    assert x.grad.tolist() == [4, 10]
    w = (x * 2 + 1j).conj()
    pairs = rushlight.view_as_real(w)
    w *= 2
    pairs.sum().backward()
    assert x.grad.tolist() == [8, 14]
    z.detach().real.fill_(3)
    assert z.tolist() == [3, 3]


@pytest.mark.filterwarnings("error")
def test_real_numbers_copied_into_complex_ones(device):
    """Their gradient is the real part, without the warning of a cast."""
    x = rushlight.tensor([3.0, 4.0], requires_grad=True, device=device)
    z = rushlight.zeros(2, dtype=rushlight.complex64, device=device)
    z.copy_(x)
    (z * (1 + 2j)).imag.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_polar_of_distances_that_are_not_positive(device):
    """torch takes the sign of the result for that of the number: its gradient is 0 or negated."""
    r = rushlight.tensor([0.0, -2.0], device=device, requires_grad=True)
    angle = rushlight.tensor([0.5, 1.0], device=device)
    rushlight.polar(r, angle).real.sum().backward()
    assert (r.grad - angle.cos()).abs().max().item() < 1e-6


def test_vectors(device):
    def run(torch, device="cpu"):
        a, b, _ = leaves(torch, "complex128", device)
        out = torch.linalg.vecdot(a, b)
        out.abs().sum().backward()
        return out.tolist(), a.grad.tolist(), b.grad.tolist()

    close(run(rushlight, device), ask(run), 1e-12)


def test_rotary_embeddings(device):
    """As LLaMA rotates queries and keys."""

    def run(torch, device="cpu"):
        steps = torch.arange(24, dtype=torch.float64, device=device)
        x = (steps * 0.37).sin().reshape(1, 3, 2, 4).requires_grad_()
        rates = 1.0 / (10000.0 ** (torch.arange(0, 4, 2, device=device) / 4))
        angles = torch.outer(torch.arange(3, device=device), rates)
        turns = torch.polar(torch.ones_like(angles), angles).view(1, 3, 1, 2)
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        out = torch.view_as_real(pairs * turns).flatten(3).type_as(x)
        (out * steps.reshape(out.shape)).sum().backward()
        return str(out.dtype), out.tolist(), x.grad.tolist()

    close(run(rushlight, device), ask(run), 1e-6)
