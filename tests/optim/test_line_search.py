"""The line search of L-BFGS, which programs with a quasi-Newton method of their own call."""

import numpy as np
import pytest

import rushlight
from tests.conftest import ask

LOSSES = {
    "quartic": "(x * x - 2) ** 2 + x",
    "rising": "-0.2 * x + 0.3 * (2 * x).sin()",  # the second point is above the first, accepted
    "wiggling": "0.05 * x * x + (3 * x).sin()",
    "steep": "(x * 4).exp() - 40 * x",
    "falling": "-x",  # has no smallest point
}
SEARCHES = {
    "": {},
    "exact": {"c2": 0.01},
    "short": {"c2": 0.01, "max_ls": 3},
    "coarse": {"c2": 1e-3, "tolerance_change": 0.3},
}


def searched(torch, loss, start, first, options):
    from importlib import import_module

    search = import_module(f"{torch.__name__}.optim.lbfgs")._strong_wolfe
    tried = []

    def at(x, t, d):
        x = (x + t * d).detach().requires_grad_()
        y = eval(LOSSES[loss], {"x": x}).sum()
        (g,) = torch.autograd.grad(y, x)
        tried.append(float(t))
        return float(y.detach()), g

    x = torch.tensor([start], dtype=torch.float64)
    f, g = at(x, 0.0, x)
    found = search(at, x, first, -g, f, g, g.dot(-g), **options)
    return [float(part) for part in found], tried


@pytest.mark.parametrize("options", SEARCHES)
@pytest.mark.parametrize("loss", LOSSES)
def test_strong_wolfe(loss, options):
    for start in (-2.0, 0.3, 1.1, 2.9):
        for first in (0.05, 0.3, 0.5, 3.0):
            case = loss, start, first, SEARCHES[options]
            theirs = ask(lambda torch, case=case: searched(torch, *case))
            for mine, other in zip(searched(rushlight, *case), theirs, strict=True):
                np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-9, err_msg=str(case))


def test_cubic():
    def found(torch):
        from importlib import import_module

        cubic = import_module(f"{torch.__name__}.optim.lbfgs")._cubic_interpolate
        numbers = [[0.0, 2.0, -1.0, 3.0, 1.5, 0.4], [3.0, 1.5, 0.4, 0.0, 2.0, -1.0],
                   [0.0, 0.0, -3.0, 1.0, -1.0, -0.2]]  # fmt: skip
        tensors = [[torch.tensor(x, dtype=torch.float64) for x in row] for row in numbers]
        bounds = torch.tensor(0.5), torch.tensor(0.6)
        return [float(cubic(*row)) for row in tensors] + [
            float(cubic(*row, bounds=bounds)) for row in tensors
        ]

    np.testing.assert_allclose(found(rushlight), ask(found), rtol=1e-6)
