"""torch.linalg.eig and eigvals: what defines them, gradients as PyTorch's, refusals."""

import math

import pytest

import rushlight
from tests.conftest import ask
from tests.ops.test_complex import close

SHAPES = [(3, 3), (2, 4, 4), (1, 1), (0, 3, 3), (2, 0, 0)]


def matrices(torch, shape, dtype="float64", device="cpu"):
    count = math.prod(shape)
    numbers = (torch.arange(1, count + 1, dtype=torch.float64) * 1.7).sin()
    numbers = numbers.reshape(shape) + torch.eye(shape[-1], dtype=torch.float64).cumsum(0)
    return numbers.to(getattr(torch, dtype)).to(device)


def product(a, v):
    """a v of a real matrix and complex columns."""
    return rushlight.complex(a @ v.real, a @ v.imag)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_defines_them(shape, dtype, device):
    a = matrices(rushlight, shape, dtype, device)
    values, vectors = rushlight.linalg.eig(a)
    assert values.shape == shape[:-1] and vectors.shape == shape
    assert values.dtype is vectors.dtype is a.dtype.to_complex() and values.device == a.device
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    error = product(a, vectors) - values.unsqueeze(-2) * vectors
    assert not error.numel() or error.abs().max().item() < tolerance
    lengths = (vectors.abs() ** 2).sum(-2)
    assert not lengths.numel() or (lengths - 1).abs().max().item() < tolerance
    alone = rushlight.linalg.eigvals(a)
    assert not error.numel() or (alone - values).abs().max().item() < tolerance


def in_order(numbers):
    return sorted(numbers, key=lambda z: (round(z.real, 6), round(z.imag, 6)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_and_gradients(dtype, device):
    """Of functions that neither the order of the values nor the turns of the vectors change."""

    def run(torch, device="cpu"):
        a = matrices(torch, (4, 4), dtype, device).requires_grad_()
        values, vectors = torch.linalg.eig(a)
        of_values = (values.real**3).sum() + (values.abs() ** 2).sum()
        of_vectors = ((vectors * vectors.conj()).real ** 2 * a.detach().sum(1, True)).sum()
        found = [in_order(values.tolist())]
        both = [of_values * of_vectors] if dtype == "float64" else []  # else mere roundings turn it
        for loss in (of_values, of_vectors, *both):
            (first,) = torch.autograd.grad(loss, a, create_graph=True)
            (second,) = torch.autograd.grad((first**2).sum(), a, retain_graph=True)
            found += [first.tolist(), second.tolist()]
        alone = torch.linalg.eigvals(a)
        (first,) = torch.autograd.grad((alone.imag**2).sum(), a)
        return [*found, in_order(alone.tolist()), first.tolist()]

    close(run(rushlight, device), ask(run), 1e-8 if dtype == "float64" else 2e-2)


REFUSED = {
    "a vector": lambda t: t.linalg.eig(t.ones(2)),
    "not square": lambda t: t.linalg.eigvals(t.ones(2, 3)),
    "no tensor": lambda t: t.linalg.eig([[1.0]]),
    "real out": lambda t: t.linalg.eigvals(t.eye(2), out=t.zeros(2)),
    "a turn of the vectors": lambda t: (
        t.linalg.eig(t.tensor([[0.0, 1.0], [-1.0, 0.0]], requires_grad=True))[1]
        .real.sum()
        .backward()
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    def run(torch):
        with pytest.raises((RuntimeError, TypeError)) as caught:
            REFUSED[name](torch)
        return type(caught.value).__name__

    assert run(rushlight) == ask(run)


def test_numbers_that_are_not_finite(device):
    for bad in (math.nan, math.inf):
        a = rushlight.full((2, 2), bad, device=device)
        with pytest.raises(RuntimeError, match="should not contain infs or NaNs"):
            rushlight.linalg.eig(a)
        with pytest.raises(RuntimeError, match="should not contain infs or NaNs"):
            rushlight.linalg.eigvals(a)


def test_out_and_meta(device):
    a = matrices(rushlight, (3, 3), device=device)
    values = rushlight.empty(0, dtype=rushlight.complex128, device=device)
    vectors = rushlight.empty(0, dtype=rushlight.complex128, device=device)
    made = rushlight.linalg.eig(a, out=(values, vectors))
    assert made.eigenvalues is values and made.eigenvectors is vectors
    assert rushlight.linalg.eigvals(a, out=values) is values and values.shape == (3,)
    empty = rushlight.linalg.eig(rushlight.empty(2, 3, 3, device="meta"))
    assert empty.eigenvectors.shape == (2, 3, 3) and empty.eigenvalues.is_complex()
