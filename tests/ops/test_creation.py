"""Factories: out= with requires_grad, on every device."""

import numpy as np
import pytest

import rushlight as torch

FACTORIES = {
    "zeros": lambda **k: torch.zeros(2, 3, **k),
    "ones": lambda **k: torch.ones(2, 3, **k),
    "full": lambda **k: torch.full((2, 3), 1.5, **k),
    "empty": lambda **k: torch.empty(2, 3, **k),
    "rand": lambda **k: torch.rand(2, 3, **k),
    "randn": lambda **k: torch.randn(2, 3, **k),
    "randint": lambda **k: torch.randint(0, 3, (2, 3), **k),
    "randperm": lambda **k: torch.randperm(3, **k),
    "normal": lambda **k: torch.normal(0.0, 1.0, (2, 3), **k),
    "arange": lambda **k: torch.arange(3.0, **k),
    "range": lambda **k: torch.range(0, 3, **k),
    "linspace": lambda **k: torch.linspace(0, 1, 3, **k),
    "logspace": lambda **k: torch.logspace(0, 1, 3, **k),
    "eye": lambda **k: torch.eye(3, **k),
}
pytestmark = pytest.mark.filterwarnings("ignore:torch.range is deprecated")
factories = pytest.mark.parametrize("make", FACTORIES.values(), ids=FACTORIES)


@factories
def test_requires_grad_is_set_on_out(make, device):
    out = torch.empty(0, device=device)
    made = make(out=out, requires_grad=True)
    assert made is out and out.requires_grad and out.is_leaf and out.grad_fn is None
    assert out.shape == make(device=device).shape and str(out.device) == device
    (out * 2).sum().backward()
    assert out.grad.unique().tolist() == [2.0]
    with pytest.raises(RuntimeError, match=r"Only Tensors of floating|not implemented for 'Long'"):
        make(out=torch.empty(0, dtype=torch.int64, device=device), requires_grad=True)


@factories
def test_out_may_not_need_a_gradient(make, device):
    out = torch.ones(make().shape, device=device, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"automatic differentiation|require grad"):
        make(out=out)
    assert out.requires_grad and out.tolist() == torch.ones(out.shape).tolist()
    if make is not FACTORIES["empty"]:
        with torch.no_grad():
            assert make(out=out, requires_grad=True) is out and out.requires_grad
            assert not make(out=out).requires_grad


@factories
def test_a_new_tensor_was_not_written_to(make, device):
    assert make(device=device)._version == 0
    assert make(device=device, dtype=torch.float64, requires_grad=True).requires_grad


def test_samples_were_not_written_to(device):
    x = torch.full((3,), 0.5, device=device)
    made = [
        torch.rand_like(x), torch.randn_like(x), torch.randint_like(x, 3), torch.bernoulli(x),
        torch.bernoulli(x, 0.3), torch.normal(x, 1.0), torch.normal(x, x), torch.poisson(x),
    ]  # fmt: skip
    assert [t._version for t in made] == [0] * len(made)


@factories
def test_a_dtype_that_is_not_that_of_out(make, device):
    with pytest.raises(RuntimeError, match="does not match dtype of out parameter"):
        make(out=torch.empty(0, device=device), dtype=torch.float64)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_ranges(dtype, device):
    """Counted exactly: steps that are sums of powers of 2."""
    for n, start, step in ((1, 0.5, 0.25), (70_001, -3.5, 0.125), (200_000, 1e4, -0.0625)):
        ours = torch.arange(start, start + (n - 0.5) * step, step, device=device,
                                dtype=getattr(torch, dtype))  # fmt: skip
        expected = (np.float64(start) + np.arange(n) * np.float64(step)).astype(dtype)
        assert (ours.cpu().numpy() == expected).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_ranges_bit_by_bit(dtype, device, reference):
    """A vector starts anew from its first number, rounded; the rest counts from the start."""
    for n in (1, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1000):
        for start, step in ((0.0, 0.1), (-5.5, 0.37), (700.0, -3.3)):
            end = start + (n - 0.5) * step
            ours = torch.arange(start, end, step, device=device, dtype=getattr(torch, dtype))
            theirs = reference.arange(start, end, step, dtype=getattr(reference, dtype))
            assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32"])
def test_range_with_its_end(dtype, device, reference):
    """Counted in float32 where the numbers have 16 bits, else in float64."""
    for start, end, step in ((0.1, 30, 0.1), (-5.5, 300.25, 0.37), (3, -7, -0.3), (1.9, 9.2, 2.5)):
        if dtype == "int32" and abs(step) < 1:
            continue  # torch divides by 0
        ours = torch.range(start, end, step, device=device, dtype=getattr(torch, dtype))
        theirs = reference.range(start, end, step, dtype=getattr(reference, dtype))
        assert ours.tolist() == theirs.tolist()


def test_range_refuses_steps_that_become_0(device):
    with pytest.raises(RuntimeError, match="step must be nonzero"):
        torch.range(0, 5, 0.5, dtype=torch.int64, device=device)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64"])
def test_powers_bit_by_bit(dtype, device, reference):
    """Exponents and powers are float64, between ends that are rounded first."""
    for n in (1, 2, 3, 8, 33, 200):
        for start, end, base in (
            (-2.5, 1.3, 10.0),
            (0.1, 3.7, 10.0),
            (3, -1, 2.5),
            (1.9, 2.1, 2.0),
        ):
            ours = torch.logspace(start, end, n, base, device=device, dtype=getattr(torch, dtype))
            theirs = reference.logspace(start, end, n, base, dtype=getattr(reference, dtype))
            assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32"])
def test_numbers_from_both_ends(dtype, device, reference):
    """Bit by bit: a step is multiplied and added in one rounding, of 16 bits in three."""
    for n in (2, 7, 16, 33, 40, 100, 3000):
        for start, end in ((-2, 2), (0.1, 7.3), (5, -5), (0, 10), (-3.3, 11.7)):
            ours = torch.linspace(start, end, n, device=device, dtype=getattr(torch, dtype))
            theirs = reference.linspace(start, end, n, dtype=getattr(reference, dtype))
            assert ours.tolist() == theirs.tolist()
