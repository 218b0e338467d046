"""softshrink: zeros keep the sign of what they were, widths are finite numbers, as in torch."""

import math

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
