"""Backward writes a large gradient over the one it came from only where nobody else sees that."""

import numpy
import pytest

import rushlight

N = 8192  # more than the smallest that is written over


def ramp(n=N):
    return rushlight.linspace(-2, 2, n)


SINGLE = {  # of x and of other numbers, as many
    "relu": lambda x, y: x.relu(),
    "gelu": lambda x, y: rushlight.nn.functional.gelu(x),
    "tanh": lambda x, y: x.tanh(),
    "sin": lambda x, y: x.sin(),
    "times": lambda x, y: x * y,
    "by": lambda x, y: x / (y + 3),
    "bfloat16": lambda x, y: x.bfloat16().exp().float(),
    "lgamma": lambda x, y: (x + 3).lgamma(),
    "where": lambda x, y: rushlight.where(x > 0, x, -x * x),
    "chain": lambda x, y: (x.exp() * 2).log().cos().square(),
    "fan": lambda x, y: (x * 1).sin() + (x * 1).cos() + x.relu(),
}


@pytest.mark.parametrize("name", SINGLE)
def test_as_of_small_tensors(name):
    """Parts that are too small for it, each a tensor of its own, have the same gradients."""

    def gradient(x, y):
        x = x.clone().requires_grad_()
        SINGLE[name](x, y).mul(y).sum().backward()
        return x.grad

    whole = gradient(ramp(), ramp())
    for i in range(0, N, 1024):
        part = ramp()[i : i + 1024]
        assert rushlight.equal(gradient(part, part), whole[i : i + 1024])


def test_given_gradient_stays():
    x = ramp().requires_grad_()
    g = rushlight.full((N,), 3.0)
    x.exp().backward(g)
    assert (g == 3).all() and not (x.grad == 3).any()


def test_gradient_of_numpy_stays():
    lent = numpy.full(N, 3, dtype="float32")

    class Lending(rushlight.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return rushlight.from_numpy(lent)

    x = ramp().requires_grad_()
    Lending.apply(x.sin()).sum().backward()
    assert (lent == 3).all() and rushlight.equal(x.grad, 3 * ramp().cos())
    x.grad = None
    y = x.sin()
    (Lending.apply(y).sum() + (y * 2).sum()).backward()
    assert (lent == 3).all() and rushlight.allclose(x.grad, 5 * ramp().cos())


def test_what_hooks_and_passes_keep():
    x = ramp().requires_grad_()
    y = x.sin()
    z = y.exp()
    y.retain_grad()
    seen = []
    z.register_hook(seen.append)
    z.grad_fn.register_prehook(lambda grads: seen.extend(grads))
    z.mul(2).sum().backward(retain_graph=True)
    assert all((g == 2).all() for g in seen)
    assert rushlight.equal(y.grad, 2 * z)
    assert rushlight.allclose(x.grad, 2 * z * ramp().cos())
    of_z, of_y, of_x = rushlight.autograd.grad(z.mul(2).sum(), (z, y, x))
    assert (of_z == 2).all() and rushlight.equal(of_y, 2 * z) and rushlight.equal(of_x, x.grad)


def test_sums_of_shared_gradients():
    """x + x hands one gradient to two: their sum must not be made in its memory."""
    x = ramp().requires_grad_()
    y = x * 1
    a, b = y.view(2, -1), y.view(4, -1)
    ((a + a).exp().sum() + (b * 2).sum() + y.sum()).backward()
    assert rushlight.allclose(x.grad, 2 * (2 * ramp()).exp() + 3)
    x.grad = None
    kept = []
    y = x * 1
    y.register_hook(lambda g: kept.append(g))
    (y.sin() + y.cos() + y).sum().backward()
    expected = ramp().cos() - ramp().sin() + 1
    assert rushlight.allclose(kept[0], expected, atol=1e-6)
    assert rushlight.equal(x.grad, kept[0])
    assert kept[0].data_ptr() != x.grad.data_ptr() and kept[0]._version == 0


def test_create_graph_writes_over_nothing():
    x = ramp().requires_grad_()
    (g,) = rushlight.autograd.grad((x.sin().exp() + x.cos()).sum(), x, create_graph=True)
    (second,) = rushlight.autograd.grad(g.sum(), x)
    s, c = ramp().sin(), ramp().cos()
    assert rushlight.allclose(g, s.exp() * c - s, atol=1e-6)
    assert rushlight.allclose(second, s.exp() * (c * c - s) - c, atol=1e-6)
