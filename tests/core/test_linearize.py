"""torch.func.linearize, and Hessians by forward mode, against torch."""

import pytest

import rushlight
from tests.conftest import ask

CALLS = """
pushed(lambda x: x**2, x)(v)
pushed(lambda x, y: (x * y).sin().sum(), x, v)(v, x)
pushed(lambda x: {"a": x.exp(), "b": (x[0], x.sum())}, x)(v)
pushed(lambda d: d["a"] * d["b"], {"a": x, "b": v})({"a": v, "b": x})
pushed(lambda x: x.detach(), x)(v)
T.func.vmap(pushed(lambda x: x**3, x, only=True))(T.stack([v, x]))
pushed(lambda x: x**2, x)(v, v)
pushed(lambda x: x**2, x)(v[:2])
pushed(lambda x: x**2, x)(v.double())
hessian(lambda x: (x**3).sum(), x)
hessian(lambda x: (x**3).sum() * y.sum(), x)
hessian(lambda x, y: (x**2 * y).sum(), (x, v))
"""


def result(call, t, device):
    def pushed(f, *primals, only=False):
        value, push = t.func.linearize(f, *primals)
        return push if only else lambda *tangents: (value, push(*tangents))

    def hessian(f, x, **options):
        h = t.autograd.functional.hessian(
            f, x, vectorize=True, outer_jacobian_strategy="forward-mode"
        )
        return h, t.utils._pytree.tree_map(lambda x: x.requires_grad, h)

    names = {
        "T": t,
        "pushed": pushed,
        "hessian": hessian,
        "x": t.tensor([0.5, 1.5, -2.0], device=device),
        "v": t.tensor([1.0, 2.0, 3.0], device=device),
        "y": t.ones(2, device=device, requires_grad=True),
    }
    try:
        found = eval(call, names)
    except RuntimeError as error:
        return " ".join(str(error).split()[:3])
    return t.utils._pytree.tree_map(lambda x: x.tolist() if isinstance(x, t.Tensor) else x, found)


@pytest.mark.filterwarnings("ignore")  # torch's, of its own tracing
@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_as_torch(call, device):
    ours = result(call, rushlight, device)
    theirs = ask(lambda t: result(call, t, "cpu"))
    assert str(ours) == str(theirs) or leaves(ours) == pytest.approx(leaves(theirs), rel=1e-5)


def leaves(tree):
    return rushlight.utils._pytree.tree_leaves(tree)


def test_derivatives_of_it(on_device):  # torch's are garbage
    def product(x):
        return rushlight.func.linearize(lambda x: x**3, x)[1](rushlight.ones(2)).sum()

    x = rushlight.tensor([1.0, -2.0])
    assert rushlight.func.grad(product)(x).tolist() == [6.0, -12.0]
    x.requires_grad_()
    product(x).backward()
    assert x.grad.tolist() == [6.0, -12.0]


def test_the_function_is_called_once(on_device):
    calls = []
    value, push = rushlight.func.linearize(lambda x: calls.append(0) or x.sin(), rushlight.ones(2))
    assert not value.requires_grad
    for _ in range(2):
        assert not push(rushlight.ones(2)).requires_grad
    assert len(calls) == 1
