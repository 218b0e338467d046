"""A leaf's gradient has the leaf's strides where the leaf is dense, else it is row-major, as in
torch; values after one and after two backward passes."""

import pytest

import rushlight
from tests.conftest import ask

LEAVES = {
    "row-major": lambda t: t.arange(24.0).view(2, 3, 4),
    "transposed": lambda t: t.arange(24.0).view(2, 3, 4).transpose(0, 2),
    "channels last": lambda t: (
        t.arange(48.0).view(2, 3, 4, 2).contiguous(memory_format=t.channels_last)
    ),
    "with gaps": lambda t: t.arange(24.0).view(2, 12)[:, ::2].t(),
    "broadcast": lambda t: t.arange(3.0).expand(4, 3),
    "one row": lambda t: t.arange(4.0).view(4, 1).t(),
    "one element": lambda t: t.arange(1.0).view(1, 1, 1),
    "empty": lambda t: t.zeros(0, 3).t(),
}
USES = {
    "as it is": lambda t, x: (x * x).sum(),
    "moved": lambda t, x: (x.transpose(0, -1).contiguous() ** 2).sum(),
    "a view alone": lambda t, x: x.transpose(0, -1),
    "itself": lambda t, x: x.sum(),
}


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("use", USES)
def test_strides_and_values(leaf, use):
    def results(t):
        x = LEAVES[leaf](t).detach().requires_grad_()
        found = []
        for _ in range(2):
            out = USES[use](t, x)
            out.backward(t.ones_like(out))
            found.append(
                (
                    x.grad.tolist(),
                    [s for n, s in zip(x.shape, x.grad.stride(), strict=True) if n > 1],
                )
            )
        return found

    ours, theirs = results(rushlight), ask(results)
    assert [a for a, _ in ours] == [a for a, _ in theirs]
    if leaf != "empty":
        assert [list(s) for _, s in ours] == [list(s) for _, s in theirs]


def test_the_gradient_is_nobody_elses():
    x = rushlight.zeros(3, 2).t().detach().requires_grad_()
    g = rushlight.ones(3, 2)
    x.t().backward(g)
    assert x.grad.stride() == (1, 2) and x.grad.data_ptr() != g.data_ptr()
    x.grad.fill_(5)
    assert g.sum() == 6


def test_recorded_gradients():
    x = rushlight.arange(1.0, 7.0).view(3, 2).t().detach().requires_grad_()
    (x**3).sum().backward(create_graph=True)
    (second,) = rushlight.autograd.grad(x.grad.sum(), x)
    assert rushlight.equal(second, 6 * x.detach())


def test_a_step_of_an_optimizer():
    w = rushlight.arange(6.0).view(3, 2).t().detach().requires_grad_()
    optimizer = rushlight.optim.SGD([w], lr=0.5)
    (w * w).sum().backward()
    optimizer.step()
    assert not w.any()


def test_on_a_device(device):
    x = rushlight.arange(6.0, device=device).view(3, 2).t().detach().requires_grad_()
    (x * x).sum().backward()
    assert x.grad.stride() == (1, 2) and rushlight.equal(x.grad, 2 * x.detach())
