"""Which hooks a backward pass calls, in which order, and what retain_grad() keeps after a write."""

import pytest

import rushlight
from tests.conftest import ask


def watched(torch, log):
    a = torch.ones(3, requires_grad=True)
    b = a * 2
    c = (b * 2).sum()
    for name, tensor, node in (("a", a, b.grad_fn.next_functions[0][0]), ("b", b, b.grad_fn)):
        tensor.register_hook(lambda g, n=name: log.append(f"{n} tensor"))
        node.register_prehook(lambda g, n=name: log.append(f"{n} before"))
        node.register_hook(
            lambda new, old, n=name: log.append((n, len(new), [g.tolist() for g in old]))
        )
    a.register_post_accumulate_grad_hook(lambda t: log.append("a has it"))
    return a, b, c


PASSES = {
    "backward": lambda torch, a, b, c: c.backward(),
    "grad of the leaf": lambda torch, a, b, c: torch.autograd.grad(c, a),
    "grad of the result": lambda torch, a, b, c: torch.autograd.grad(c, b),
    "grad of both": lambda torch, a, b, c: torch.autograd.grad(c, (a, b)),
    "backward to the leaf": lambda torch, a, b, c: c.backward(inputs=[a]),
    "backward to the result": lambda torch, a, b, c: c.backward(inputs=[b]),
    "backward to both": lambda torch, a, b, c: c.backward(inputs=[a, b]),
}


@pytest.mark.parametrize("name", PASSES)
def test_order(reference, name):
    def answer(torch):
        log = []
        PASSES[name](torch, *watched(torch, log))
        return log

    assert answer(rushlight) == ask(answer)


def test_what_the_hooks_of_a_node_change(reference):
    """grad() and retain_grad() see what hooks of the tensor made, not those of its node."""

    def answer(torch):
        found = []
        for wanted in ("grad", "retained", "leaf"):
            x = torch.tensor(1.0, requires_grad=True)
            y = x.clone()
            y.retain_grad()
            y.grad_fn.register_prehook(lambda g: (g[0] * 5,))
            y.register_hook(lambda g: g * 3)
            if wanted == "grad":
                found.append(torch.autograd.grad(y, y)[0].item())
            else:
                y.backward()
                found.append((x if wanted == "leaf" else y).grad.item())
        return found

    assert answer(rushlight) == ask(answer) == [3, 3, 15]


def test_a_leafs_node_may_replace_its_gradient(reference):
    def answer(torch):
        x = torch.ones(3, requires_grad=True)
        node = x.view_as(x).grad_fn.next_functions[0][0]

        def ten_times(_, grads):
            x.grad = grads[0] * 10

        x.register_hook(lambda g: g - 2)
        node.register_prehook(lambda g: (g[0] / 5,))
        handle = node.register_hook(ten_times)
        x.sum().backward()
        first = x.grad.tolist()
        handle.remove()
        x.sum().backward()
        return first, x.grad.tolist()

    assert answer(rushlight) == ask(answer)


def test_what_a_hook_after_accumulation_returns():
    def answer(torch):
        x = torch.ones(2, requires_grad=True)
        handle = x.register_post_accumulate_grad_hook(lambda t: t.sub_(t.grad, alpha=0.25))
        x.sum().backward()
        handle.remove()
        x.register_post_accumulate_grad_hook(lambda t: 5)
        with pytest.raises(TypeError) as error:
            x.sum().backward()
        return x.tolist(), x.grad.tolist(), str(error.value).splitlines()[0]

    assert answer(rushlight) == ask(answer)


def again(torch, x):
    x.retain_grad()
    x.mul_(2)
    x.mul_(3)
    return x, [x]


def through_a_view(torch, x):
    x.retain_grad()
    x[:1].mul_(2)
    return x * 3, [x]


def views(torch, x):
    first, second = x[:], x[1:]
    first.retain_grad(), second.retain_grad()
    first.mul_(2)
    return first[1:] + second * 3, [first, second]


def one_of_two(torch, x):
    var, mean = torch.var_mean(x)
    var.retain_grad(), mean.retain_grad()
    var.mul_(2)
    return var + mean * 5, [var, mean]


def of_a_function(torch, x):
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x.retain_grad()
    return Doubled.apply(x) * 3, [x]


def composed(torch, x):
    x.retain_grad()
    x.cumsum_(0)
    return x * 3, [x]


def kept_before(torch, x):
    x.retain_grad()
    (x * 2).sum().backward(retain_graph=True)
    x.mul_(2)
    return x * 5, [x]


@pytest.mark.parametrize(
    "write",
    [
        again, through_a_view, views, one_of_two, of_a_function, composed, kept_before,
    ],
)  # fmt: skip
def test_a_gradient_is_kept_after_a_write(reference, write):
    """It is that of what the tensor is now."""

    def answer(torch):
        leaf = torch.tensor([1.0, 2.0], requires_grad=True)
        out, watched = write(torch, leaf.clone())
        out.sum().backward()
        return [(x.retains_grad, x.grad.tolist()) for x in watched], leaf.grad.tolist()

    assert answer(rushlight) == ask(answer)
