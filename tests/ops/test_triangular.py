"""Triangles, their indices and diagonals, against their definitions and torch."""

import numpy as np
import pytest

import rushlight as rl
from rushlight.autograd import gradcheck

SHAPES = [(0, 3), (3, 0), (1, 1), (4, 4), (3, 7), (7, 3), (2, 3, 5), (70, 65)]
DIAGONALS = [-(2**63), -8, -3, -1, 0, 1, 2, 6, 2**63 - 1]


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_triangles(device, shape, lower):
    keep = rl.tril if lower else rl.triu
    for dtype in (rl.float32, rl.bool, rl.int16, rl.float64):
        x = rl.ones(shape, dtype=dtype).to(device)
        for diagonal in DIAGONALS:
            result = keep(x, diagonal)
            assert result.dtype is dtype and result.shape == shape and result.is_contiguous()
            rows, columns = rl.arange(shape[-2]).unsqueeze(1), rl.arange(shape[-1])
            near = max(-100, min(diagonal, 100))
            holds = columns - rows <= near if lower else columns - rows >= near
            assert rl.equal(result.cpu() != 0, holds.expand(shape))
    view = rl.arange(12.0).reshape(3, 4).to(device).t()
    assert rl.equal(keep(view, -1).cpu(), keep(view.contiguous(), -1).cpu())


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (4, 4), (3, 7), (7, 3), (70, 65)])
def test_indices_of_triangles(device, shape):
    for diagonal in (-(2**62), -8, -3, -1, 0, 1, 2, 6, 2**62):
        for indices, keep in ((rl.tril_indices, rl.tril), (rl.triu_indices, rl.triu)):
            found = indices(*shape, diagonal, device=device)
            expected = keep(rl.ones(shape), diagonal).nonzero().t()
            assert found.dtype is rl.int64 and found.is_contiguous()
            assert found.cpu().tolist() == expected.tolist()
    assert rl.triu_indices(2, 2, dtype=rl.int32).dtype is rl.int32
    with pytest.raises(RuntimeError, match="row must be non-negative"):
        rl.tril_indices(-1, 2)
    with pytest.raises(RuntimeError):
        rl.triu_indices(2**62, 2**62)


def test_gradients(device):
    x = rl.randn(3, 4, dtype=rl.float64).to(device).requires_grad_()
    for op in (lambda t: t.tril(1), lambda t: t.triu(-1), rl.trace, rl.diagflat, rl.diag):
        assert gradcheck(op, (x,))
    assert rl.trace(x).grad_fn.name() == "TraceBackward0"
    assert x.tril().grad_fn.name() == "TrilBackward0"
    inside = x.detach().clone()
    assert inside.triu_(1) is inside and inside.tril().abs().sum() == 0


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize(
    "shape", [(2, 9, 2), (2, 2, 9), (3, 1, 5), (3, 5, 1), (1, 30, 30)], ids=str
)
def test_rows_that_lie_one_behind_another(device, shape, lower):
    """Whole rows and rows of zeros are copied and filled together, in views as well."""
    values = np.arange(1, 1 + np.prod(shape) * 4).reshape(shape[0] * 2, shape[1], -1)
    for view in (lambda x: x[: shape[0], :, : shape[2]], lambda x: x[::2, :, ::2]):
        for diagonal in (-40, -3, -1, 0, 1, 2, 40):
            x = view(rl.tensor(values, device=device))
            name = "tril" if lower else "triu"
            expected = getattr(np, name)(view(values), diagonal)
            assert (getattr(x, name)(diagonal).cpu().numpy() == expected).all()
            getattr(x, name + "_")(diagonal)
            assert (x.cpu().numpy() == expected).all()
