"""Halves that are rounded twice, as in torch."""

import pytest

import rushlight
from tests.conftest import ask


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_tanhshrink_of_halves(dtype, device):
    def found(torch):
        d = device if torch is rushlight else "cpu"
        x = torch.linspace(-4, 4, 333).to(getattr(torch, dtype)).to(d).requires_grad_()
        y = torch.nn.functional.tanhshrink(x)
        y.backward(torch.ones_like(y))
        return y.tolist(), x.grad.tolist(), y.grad_fn.name()

    assert found(rushlight) == ask(found)
