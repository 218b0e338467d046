"""grad_fn(gradient): a node called by itself, and edges of nodes that a walk has found."""

import pytest

import rushlight
from tests.conftest import ask


def lists(grads):
    if isinstance(grads, tuple):
        return [lists(g) for g in grads]
    if grads is None:
        return None
    return [list(grads.shape), [round(g, 3) for g in grads.flatten().tolist()]]


def walk(torch):
    """Through a graph by hand, as backward() goes."""
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    w = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    loss = (x * w).relu().sum()
    found = [lists(loss.grad_fn(torch.tensor(2.0)))]
    relu = loss.grad_fn.next_functions[0][0]
    grad = relu(loss.grad_fn(torch.tensor(1.0)))
    found.append(lists(grad))
    mul = relu.next_functions[0][0]
    found += [lists(mul(grad)), lists(mul(None))]
    leaf = mul.next_functions[0][0]
    found += [lists(leaf(mul(grad)[0])), x.grad.tolist(), w.grad]
    with torch.no_grad():
        found += [mul(grad)[0].requires_grad]
    grads = mul(grad)
    found += [
        grads[0].requires_grad,
        lists(torch.autograd.grad(grads[0].sum(), w, retain_graph=True)),
    ]
    loss.backward()
    try:
        mul(grad)
    except RuntimeError as error:
        found.append(str(error)[:60])
    return found


def several(torch):
    """Nodes of several inputs and outputs, some of them without a gradient."""
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    rows = torch.unbind(x)[0].grad_fn
    values = torch.max(x, 1).values.grad_fn
    loss = torch.nn.functional.mse_loss(x, torch.ones(2, 3))
    convolved = torch.nn.functional.conv1d(
        torch.ones(1, 1, 4, requires_grad=True), torch.ones(1, 1, 2), torch.ones(1)
    )
    return [
        lists(rows(torch.ones(3), None)),
        lists(rows(torch.ones(3), torch.zeros(3))),
        lists(values(torch.ones(2))),
        lists(loss.grad_fn(torch.tensor(1.0))),
        lists(convolved.grad_fn(torch.ones(1, 1, 3))),
        lists((x * 2).grad_fn(torch.ones(2, 3))),
        lists(torch.cat([x, x * 2]).grad_fn(torch.ones(4, 3))),
    ]


def without_hooks(torch):
    seen = []
    x = torch.ones(2, requires_grad=True)
    y = x * 3
    y.register_hook(lambda g: seen.append("tensor"))
    y.grad_fn.register_prehook(lambda g: seen.append("before"))
    y.grad_fn.register_hook(lambda g, h: seen.append("after"))
    return [lists(y.grad_fn(torch.ones(2))), seen]


def refusals(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.ones(2, requires_grad=True)
    own, node, g = Double.apply(x).grad_fn, (x * 2).grad_fn, torch.ones(2)
    calls = [
        lambda: node(),
        lambda: node(g, g),
        lambda: node(1),
        lambda: node(g=g),
        lambda: own(g),
    ]
    words = [callable(own), callable(node), lists(own.apply(g))]
    for call in calls:
        with pytest.raises(TypeError) as error:
            call()
        words.append(str(error.value))
    return words


def edges(torch):
    """A GradientEdge made of a node that a walk has found."""
    graph = torch.autograd.graph
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    loss = (x * 2).exp().sum()
    exp = loss.grad_fn.next_functions[0][0]
    mul = exp.next_functions[0][0]
    edge = graph.GradientEdge(mul, 0)
    return [
        lists(torch.autograd.grad(edge, x, torch.ones(2, 3), retain_graph=True)),
        lists(torch.autograd.grad(loss, edge)),
        [each.name() for each in (exp, mul)],
    ]


@pytest.mark.parametrize("what", [walk, several, without_hooks, refusals, edges])
def test_calls(what, reference):
    assert what(rushlight) == ask(what)


def test_a_gradient_that_the_output_cannot_have():
    """No kernel sees sizes, a dtype or a device other than those it was made for."""
    x = rushlight.ones(1, 1, 4, 4, requires_grad=True)
    w = rushlight.ones(2, 1, 2, 2, requires_grad=True)
    y = rushlight.nn.functional.conv2d(x, w)
    loss = y.sum()
    node = loss.grad_fn.next_functions[0][0]
    other = [
        rushlight.ones(1, 2, 3, 2),
        rushlight.ones(1, 2, 9),
        rushlight.ones(18),
        rushlight.ones(1, 2, 3, 3, dtype=rushlight.float64),
        rushlight.ones(1, 2, 3, 3, device="meta"),
    ]
    for call in (y.grad_fn, node):
        for g in other:
            with pytest.raises(RuntimeError, match="ConvolutionBackward0 was called with"):
                call(g)
        assert call(rushlight.ones(1, 2, 3, 3))[1].shape == w.shape
    with pytest.raises(RuntimeError, match="SplitBackward0 was called with a gradient that its "):
        rushlight.split(x, 2, 2)[1].grad_fn(None, rushlight.ones(1, 1, 2, 3))
    with pytest.raises(RuntimeError, match="AccumulateGrad was called with"):
        node.next_functions[0][0](rushlight.ones(4, 4))
    assert x.grad is None
