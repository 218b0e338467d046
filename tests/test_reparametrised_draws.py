"""Gradients through draws of Beta and Dirichlet: a share moves at a constant quantile of its own
distribution. torch's values are approximations, to a few thousandths; ours are exact."""

import math

import pytest

import rushlight as torch
from rushlight import distributions as D
from tests.conftest import ask

SHARES = [1e-6, 0.01, 0.2, 0.5, 0.7, 0.95, 0.9999]
CONCENTRATIONS = [0.03, 0.4, 1.0, 3.0, 20.0, 700.0]


def grid(torch, dtype):
    x, a, b = torch.meshgrid(
        *(torch.tensor(v, dtype=dtype) for v in (SHARES, CONCENTRATIONS, CONCENTRATIONS)),
        indexing="ij",
    )
    return x.reshape(-1), a.reshape(-1), (a + b).reshape(-1)


def likely(x, a, total):
    """Where a draw may fall: not further than eight deviations from the mean."""
    mean = a / total
    deviation = (mean * (1 - mean) / (total + 1)).sqrt()
    return ((x - mean).abs() < 8 * deviation) & (x * (1 - x) > 1e-5)


def test_values():
    x, a, total = grid(torch, torch.float64)
    ours = torch._dirichlet_grad(x, a, total)
    theirs = torch.tensor(
        ask(lambda torch: torch._dirichlet_grad(*grid(torch, torch.float64)).tolist()),
        dtype=torch.float64,
    )
    some = likely(x, a, total)
    assert some.sum() > 40
    torch.testing.assert_close(ours[some], theirs[some], rtol=8e-3, atol=1e-12)
    assert ours.isfinite().all()


@pytest.mark.parametrize("b", [0.5, 1.0, 2.5])
def test_closed_form(b, device):
    """I(x; 1, b) = 1 - (1 - x)^b, and for any a with b = 1 it is x^a."""
    x = torch.tensor([0.001, 0.1, 0.5, 0.9, 0.999], dtype=torch.float64, device=device)
    a = torch.full_like(x, b)
    found = torch._dirichlet_grad(x, a, a + 1)
    torch.testing.assert_close(found, -x * x.log() / a / (1 - x), rtol=1e-7, atol=0.0)


def test_at_the_bounds():
    a, total = torch.tensor([2.0, 2.0, 2.0, -1.0]), torch.tensor([5.0, 5.0, 5.0, 5.0])
    found = torch._dirichlet_grad(torch.tensor([0.0, 1.0, 1.5, 0.5]), a, total)
    assert found[0] == 0
    assert abs(found[1].item() - (1 / 2 + 1 / 3 + 1 / 4) / 3) < 1e-6
    assert found[2:].isnan().all()


def drawn(torch, kind, dtype):
    torch.manual_seed(0)
    a = torch.tensor([0.4, 2.0, 9.0], dtype=dtype, requires_grad=True)
    b = torch.tensor([3.0, 0.7, 1.0], dtype=dtype, requires_grad=True)
    if kind == "Beta":
        made = torch.distributions.Beta(a, b).rsample((2,))
    else:
        made = torch.distributions.Dirichlet(torch.stack([a, b])).rsample((2,))
    weights = torch.arange(1.0, 1 + made.numel(), dtype=dtype).reshape(made.shape)
    (made * weights).sum().backward()
    return [made.tolist(), a.grad.tolist(), b.grad.tolist()]


@pytest.mark.parametrize("kind", ["Beta", "Dirichlet"])
@pytest.mark.parametrize("name", ["float32", "float64"])
def test_of_distributions(kind, name):
    ours = drawn(torch, kind, getattr(torch, name))
    theirs = ask(lambda torch: drawn(torch, kind, getattr(torch, name)))
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(torch.tensor(mine), torch.tensor(other), rtol=3e-3, atol=1e-5)


def test_first_gradients_only():
    a = torch.tensor([2.0, 3.0], requires_grad=True)
    sample = D.Dirichlet(a).rsample()
    assert type(sample.grad_fn).__name__.startswith("Clamp") or sample.grad_fn is not None
    x = torch.tensor([0.5], requires_grad=True)
    with pytest.raises(RuntimeError, match="derivative for aten::_dirichlet_grad is not"):
        torch._dirichlet_grad(x, x + 1, x + 2).backward()
    with pytest.raises(NotImplementedError, match="'_standard_gamma_grad' is not implemented"):
        torch._standard_gamma_grad(x, x).backward()
    assert torch._sample_dirichlet(a).grad_fn is None


def test_refusals():
    x = torch.tensor([0.5])
    with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
        torch._dirichlet_grad(x, x.double(), x)
    with pytest.raises(NotImplementedError, match="not implemented for 'Half'"):
        torch._dirichlet_grad(x.half(), x.half(), x.half())
    with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
        torch._standard_gamma_grad(x, x.double())
    assert torch._standard_gamma_grad(x, torch.empty(0, 1)).shape == (0, 1)


def test_gamma():
    shape, draws = [0.3, 1.0, 7.0], [0.1, 1.0, 9.0]
    ours = torch._standard_gamma_grad(torch.tensor(shape), torch.tensor(draws))
    theirs = ask(
        lambda torch: torch._standard_gamma_grad(torch.tensor(shape), torch.tensor(draws)).tolist()
    )
    torch.testing.assert_close(ours, torch.tensor(theirs), rtol=2e-3, atol=1e-6)
    assert math.isfinite(ours.sum())
