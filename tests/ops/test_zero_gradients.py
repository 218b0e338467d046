"""What flows back is zeros, not None, where torch has zeros."""

import pytest

import rushlight
from tests.conftest import ask

CALLS = {
    "put": lambda t, x: x.put(t.tensor([0, 1], device=x.device), x[:2] * 1),
    "put nothing": lambda t, x: x.put(t.tensor([0], device=x.device)[:0], x[:0] * 1),
    "cat with an empty legacy tensor": lambda t, x: t.cat([x[:0] * 1, x.reshape(1, -1)]),
    "count of what is not 0": lambda t, x: x.norm(0) + x.sum() * 0,
    "norm": lambda t, x: x.norm(float("-inf")),
    "vector_norm": lambda t, x: t.linalg.vector_norm(x, -1),
    "householder_product": lambda t, x: t.linalg.householder_product(x.reshape(2, 2), x[:2] * 0),
}


@pytest.mark.parametrize("call", CALLS)
def test_gradient_is_that_of_torch(call, device, reference):
    found = []
    for t in (rushlight, reference):
        x = t.tensor([0.5, -1.0, 0.0, 2.0], device=device if t is rushlight else "cpu")
        x.requires_grad_()
        (g,) = t.autograd.grad(CALLS[call](t, x).sum(), x, allow_unused=True)
        found.append(None if g is None else g.tolist())
    assert found[0] == pytest.approx(found[1])


def test_leaves_get_zeros(device):
    """Each operand by itself, where nothing flows to it."""
    empty = rushlight.zeros(0, device=device, requires_grad=True)
    x = rushlight.ones(2, 3, device=device, requires_grad=True)
    rushlight.cat([empty, x]).sum().backward()
    assert empty.grad.shape == (0,)
    grid = rushlight.zeros(1, 1, 1, 2, device=device, requires_grad=True)
    picture = rushlight.ones(1, 1, 2, 2, device=device, requires_grad=True)
    y = rushlight.nn.functional.grid_sample(picture, grid, "nearest", align_corners=False)
    y.sum().backward()
    assert grid.grad.tolist() == [[[[0.0, 0.0]]]]


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shape", [(0, 3), (0, 3, 4), (2, 3, 0)])
def test_batch_norm_of_no_elements(shape, training, device, reference):
    found = []
    for t in (rushlight, reference):
        where = {"device": device if t is rushlight else "cpu"}
        x = t.ones(shape, **where).requires_grad_()
        mean, var = t.zeros(3, **where), t.ones(3, **where)
        weight, bias = (t.ones(3, **where).requires_grad_() for _ in range(2))
        y = t.nn.functional.batch_norm(x, mean, var, weight, bias, training=training)
        grads = t.autograd.grad(y.sum(), (x, weight, bias))
        found.append([tuple(y.shape), *(v.tolist() for v in (mean, var, *grads))])
    assert found[0] == found[1]


@pytest.mark.filterwarnings("ignore")
def test_backward_hook_of_a_module_of_several_nodes(on_device):
    """It sees the gradients of the last node alone, as in torch."""

    def shapes(t):
        layers = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.ReLU(), t.nn.Linear(3, 1))
        seen = []

        def hook(module, grad_input, grad_output):
            seen.append([None if g is None else tuple(g.shape) for g in grad_input])
            seen.append([tuple(g.shape) for g in grad_output])

        layers.register_backward_hook(hook)
        layers(t.ones(4, 2, requires_grad=True)).sum().backward()
        return seen

    assert shapes(rushlight) == ask(shapes)
