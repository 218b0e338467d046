"""In which order a backward pass runs nodes and calls hooks: the node that was made last is first,
and a leaf comes as soon as its gradient is complete."""

import pytest

import rushlight as torch
from tests.conftest import ask


def module_hooks(torch):
    """Of a cell that is called at every step: its hooks go back through the steps."""
    torch.manual_seed(0)
    log = []
    of_input, of_state = torch.nn.Linear(2, 3), torch.nn.Linear(3, 3)
    for name, module in (("input", of_input), ("state", of_state)):
        module.register_full_backward_hook(
            lambda _m, _i, grads, name=name: log.append((name, round(float(grads[0].sum()), 4)))
        )
    steps = torch.tensor([[[0.1, 0.2]], [[0.5, 0.1]], [[0.3, 0.9]], [[0.7, 0.4]]])
    steps.requires_grad_()
    state = torch.zeros(1, 3, requires_grad=True)
    for x in steps:
        state = torch.tanh(of_input(x) + of_state(state))
    state.sum().backward()
    return log


def tensor_hooks(torch):
    """Of parameters and results of a network."""
    log = []
    layers = [torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)]
    net = torch.nn.Sequential(*layers)
    for name, p in net.named_parameters():
        p.register_hook(lambda _g, name=name: log.append(name))
    y = torch.ones(4, 2, requires_grad=True)
    y.register_hook(lambda _g: log.append("x"))
    for i, layer in enumerate(layers):
        y = layer(y)
        y.register_hook(lambda _g, i=i: log.append(i))
    y.sum().backward()
    return log


def leaves(torch):
    """Several that are complete at once; one that gets gradients twice; one that gets none."""
    log = []
    many = [torch.ones(2, requires_grad=True) for _ in range(5)]
    for i, t in enumerate(many):
        t.register_hook(lambda _g, i=i: log.append(i))
        t.register_post_accumulate_grad_hook(lambda _t, i=i: log.append(("added", i)))
    sum(t * i for i, t in enumerate(many)).sum().backward()
    (torch.cat(many) * 2).sum().backward()
    (torch.stack(many) * 2 + many[0]).sum().backward()

    class Half(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * 1, b * 1

        @staticmethod
        def backward(ctx, _a, b):
            return None, b

    a, _ = Half.apply(many[1] * 2, many[2])
    (a + many[1]).sum().backward()
    torch.autograd.grad((many[3] * many[4]).sum(), [many[3], many[4]])
    return log, [t.grad.tolist() for t in many]


def functions(torch):
    """Of one input, in several forms of graphs."""
    log = []

    class Named(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, name):
            ctx.name = name
            return x * 2

        @staticmethod
        def backward(ctx, g):
            log.append(ctx.name)
            return g * 2, None

    x = torch.ones(2, requires_grad=True)
    a, b = Named.apply(x, "a"), Named.apply(x, "b")
    c, d, e = Named.apply(a, "c"), Named.apply(b, "d"), Named.apply(x, "e")
    (a + b + c + d + e).sum().backward()
    torch.stack([Named.apply(x, i) for i in range(6)]).sum().backward()
    torch.autograd.backward([Named.apply(x, i).sum() for i in range(6)])
    torch.autograd.grad(sum(Named.apply(x, i) for i in range(6)).sum(), x)
    deep = Named.apply(Named.apply(Named.apply(x, "deep 1"), "deep 2"), "deep 3")
    (Named.apply(x, "late") + deep).sum().backward()
    return log


@pytest.mark.parametrize("program", [module_hooks, tensor_hooks, leaves, functions])
def test_order_is_torchs(program):
    assert program(torch) == ask(program)


def test_graphs_of_several_threads():
    """A node of one thread runs after those that another thread made of its result."""
    from concurrent.futures import ThreadPoolExecutor

    x = torch.ones(3, requires_grad=True)
    y = x
    for _ in range(40):  # the first thread's counter is far ahead of the others'
        y = y * 1.0
    with ThreadPoolExecutor(1) as pool:
        z = pool.submit(lambda: y * y + y).result()
    (z * 2 + y).sum().backward()
    assert x.grad.tolist() == [7.0] * 3
