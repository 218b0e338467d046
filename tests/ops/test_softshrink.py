"""softshrink and hardshrink: signs of zeros, and widths, which are numbers of the dtype."""

import math
import re

import pytest

import rushlight as torch

softshrink = torch.nn.functional.softshrink


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("n", [1, 5, 40])
def test_signs_of_zeros(device, dtype, n):
    numbers = [-math.inf, -1.0, -0.5, -0.25, -0.0, 0.0, 0.25, 0.5, 1.0, math.inf, math.nan]
    wanted = [-math.inf, -0.5, -0.0, -0.0, -0.0, 0.0, 0.0, 0.0, 0.5, math.inf, math.nan]
    x = torch.tensor(numbers * n, dtype=getattr(torch, dtype), device=device)
    found = softshrink(x, 0.5).tolist()
    assert str(found) == str(wanted * n)


@pytest.mark.parametrize("width", [-0.5, math.inf, math.nan])
def test_widths_are_finite_and_not_negative(device, width):
    with pytest.raises(RuntimeError, match=r"lambda must be in range \[0, .* but found"):
        softshrink(torch.ones(2, device=device), width)


@pytest.mark.parametrize(
    ("dtype", "most", "words"),
    [
        ("float16", 65504.0, "65504] for input dtype Half"),
        ("bfloat16", 3.3895313892515355e38, "3.38953e+38] for input dtype BFloat16"),
        ("float32", 3.4028234663852886e38, "3.40282e+38] for input dtype Float"),
        ("float64", 1.7976931348623157e308, "1.79769e+308] for input dtype Double"),
    ],
)
def test_widths_are_numbers_of_the_dtype(device, dtype, most, words):
    x = torch.ones(2, dtype=getattr(torch, dtype), device=device)
    assert softshrink(x, most).tolist() == [0.0, 0.0]
    for width in (-1, math.inf, most * (1 + 1e-6)):
        with pytest.raises(RuntimeError, match=re.escape("lambda must be in range [0, " + words)):
            softshrink(x, width)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("n", [1, 70])
def test_the_edge_of_hardshrink_is_a_number_of_the_dtype(device, dtype, n):
    """0.1 is 0.0999755859375 of float16 and 0.10009765625 of bfloat16."""
    x = torch.full((n,), 0.1, dtype=getattr(torch, dtype), device=device, requires_grad=True)
    y = torch.nn.functional.hardshrink(x, 0.1)
    y.sum().backward()
    assert y.tolist() == x.grad.tolist() == [0.0] * n
    assert torch.nn.functional.hardshrink(x.detach(), 0.099).tolist() == x.tolist()
