"""inference_mode(): what is made inside is marked, and stays out of recorded operations."""

import pytest

import rushlight as torch
from rushlight.nn import functional as F


def test_results_are_marked_and_views_of_others_are_not():
    x = torch.ones(2, 3, requires_grad=True)
    with torch.inference_mode():
        made = torch.ones(2, 3)
        results = [made, x * 2, made.exp(), made[0], made @ made.T, x.sum(), torch.cat([x, x])]
        assert all(r.is_inference() for r in results)
        assert not x[0].is_inference() and not x.detach().is_inference()
    assert not (made * 2).is_inference() and not made.clone().is_inference()
    assert not torch.ones(1).is_inference()


def test_losses_and_layers_of_inference_tensors():
    target = torch.tensor([0, 2])
    expected = F.cross_entropy(torch.ones(2, 3), target)
    with torch.inference_mode():
        x = torch.ones(2, 3)
        assert torch.equal(F.cross_entropy(x, target), expected)
        assert torch.nn.Linear(3, 2)(x).shape == (2, 2)
    # outside, where nothing is recorded, they are tensors as others
    assert torch.equal(F.cross_entropy(x, target), expected)
    assert torch.equal(x * 2, torch.full((2, 3), 2.0))
    w = torch.ones(3, 2, requires_grad=True)
    assert (torch.ones(2, 3) @ w).requires_grad  # what was refused nowhere is not refused here


def test_nothing_recorded_may_keep_them():
    w = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        x = torch.ones(3)
    for call in (lambda: x * w, lambda: x @ w, lambda: F.linear(x, w[None])):
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
            call()
    assert torch.equal(w * 2, torch.full((3,), 2.0))  # the refusal is over
    (x + w).sum().backward()  # a sum keeps nothing
    assert torch.equal(w.grad, torch.ones(3))
    (x.clone() * w).sum().backward()

    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(b)
            return a * 2

        @staticmethod
        def backward(ctx, g):
            return g, None

    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        Keeps.apply(w, x)


def test_writes_outside_are_refused():
    with torch.inference_mode():
        x = torch.ones(3)
        x.add_(1)
    for block in (torch.enable_grad(), torch.no_grad()):
        with block, pytest.raises(RuntimeError, match="Inplace update to inference tensor outside"):
            x.add_(1)
    with torch.inference_mode():
        assert torch.equal(x.add_(1), torch.full((3,), 3.0))
