"""Softmax of rows of every short length, whose ends are computed in overlapping pieces."""

import math

import pytest

import rushlight as torch
from rushlight.nn import functional as F
from tests.emulator import EMULATED

LENGTHS = (
    [1, 7, 16, 17, 33, 50]
    if EMULATED
    else [*range(1, 67), 95, 96, 97, 100, 127, 129, 197, 255, 256, 257, 511, 513]
)
NEAR = {"float32": 2e-6, "float64": 1e-14, "bfloat16": 8e-3, "float16": 1e-3}


def rows_of(length, dtype, device):
    values = torch.arange(3 * length, dtype=torch.float64).mul(0.7).sin().mul(4).reshape(3, length)
    return values.to(device, dtype)


@pytest.mark.parametrize("dtype", list(NEAR))
def test_every_length(device, dtype):
    near = {"rtol": NEAR[dtype], "atol": NEAR[dtype] / 2}
    for length in LENGTHS:
        x = rows_of(length, getattr(torch, dtype), device).requires_grad_()
        wide = x.detach().cpu().double()
        e = (wide - wide.max(1, keepdim=True).values).exp()
        expected = e / e.sum(1, keepdim=True)
        log = expected.log()
        y, z = F.softmax(x, 1), F.log_softmax(x, 1)
        torch.testing.assert_close(y.detach().cpu().double(), expected, **near)
        in_logarithms = {"rtol": NEAR[dtype], "atol": (20 if "16" in dtype else 2) * NEAR[dtype]}
        torch.testing.assert_close(z.detach().cpu().double(), log, **in_logarithms)
        g = rows_of(length, x.dtype, device).flip(0)
        of_y, of_z = torch.autograd.grad(y, x, g)[0], torch.autograd.grad(z, x, g)[0]
        p, w = y.detach().cpu().double(), g.cpu().double()
        loose = {"rtol": 10 * NEAR[dtype], "atol": 10 * NEAR[dtype] * max(1, length / 16)}
        torch.testing.assert_close(
            of_y.cpu().double(), p * (w - (w * p).sum(1, keepdim=True)), **loose
        )
        torch.testing.assert_close(
            of_z.cpu().double(), w - expected * w.sum(1, keepdim=True), **loose
        )


@pytest.mark.parametrize("length", [3, 16, 17, 31, 33, 50, 70])
def test_infinite_and_undefined_elements(device, length):
    for at in {0, 1, length // 2, length - 2, length - 1}:
        x = rows_of(length, torch.float32, device)
        x[0, at], x[1, at], x[2, at] = -math.inf, math.nan, math.inf
        y = F.softmax(x, 1).tolist()
        kept = [v for k, v in enumerate(x[0].exp().tolist()) if k != at]
        assert y[0][at] == 0 and sum(y[0]) == pytest.approx(1, abs=1e-5)
        assert max(y[0]) == pytest.approx(max(kept) / sum(kept), rel=1e-5)
        assert all(math.isnan(v) for v in y[1]) and math.isnan(y[2][at])
    nothing = torch.full((1, length), -math.inf, device=device)
    assert F.softmax(nothing, 1).isnan().all()


def test_losses_of_every_length(device):
    for length in LENGTHS:
        x = rows_of(length, torch.float32, device)
        target = torch.tensor([0, length // 2, length - 1], device=device)
        expected = torch.logsumexp(x.double(), 1) - x.double()[torch.arange(3), target.cpu()]
        ours = F.cross_entropy(x, target, reduction="none").double()
        torch.testing.assert_close(ours, expected, rtol=1e-6, atol=2e-6)


@pytest.mark.parametrize("inner", [1, 2, 5, 15, 16, 40])
@pytest.mark.parametrize("dtype", list(NEAR))
def test_many_short_lines(device, dtype, inner):
    """Lines of a few elements are moved into columns, some hundred at a time."""
    near = {"rtol": 2 * NEAR[dtype], "atol": NEAR[dtype]}
    for length in (2, 7, 15) if EMULATED else (1, 2, 3, 9, 14, 15, 16, 33):
        for outer in (5, 17) if EMULATED else (1, 3, 16, 17, 500):
            x = rows_of(outer * length * inner, getattr(torch, dtype), device)[0]
            x = x.view(outer, length, inner)
            if outer == 17:
                x[3, 0, 0], x[4, -1, -1], x[5, length // 2, 0] = math.nan, math.inf, -math.inf
            x.requires_grad_()
            wide = x.detach().cpu().double().requires_grad_()
            e = (wide - wide.max(1, keepdim=True).values).exp()
            expected = e / e.sum(1, keepdim=True)
            g = (x.detach() * 3).cos()
            for f, right in ((F.softmax, expected), (F.log_softmax, expected.log())):
                y = f(x, 1)
                close = {**near, "equal_nan": True}
                if f is F.log_softmax and "16" in dtype:
                    close["atol"] *= 20
                torch.testing.assert_close(y.detach().cpu().double(), right.detach(), **close)
                if outer == 17:
                    continue
                (ours,) = torch.autograd.grad(y, x, g)
                p, w = y.detach().cpu().double(), g.cpu().double()
                theirs = (
                    w - p.exp() * w.sum(1, keepdim=True)
                    if f is F.log_softmax
                    else p * (w - (w * p).sum(1, keepdim=True))
                )
                loose = {"rtol": 10 * NEAR[dtype], "atol": 20 * NEAR[dtype] * max(1, length / 8)}
                torch.testing.assert_close(ours.cpu().double(), theirs, **loose)
