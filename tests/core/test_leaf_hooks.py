"""Hooks on leaves that wait for their gradient: several of them, early, and the end of the pass."""

import pytest

import rushlight
from tests.conftest import ask


def several(torch):
    seen = []
    x = torch.ones(1, requires_grad=True)
    first = x.register_post_accumulate_grad_hook(lambda p: seen.append(("a", p.grad.item())))
    x.register_post_accumulate_grad_hook(lambda p: seen.append(("b", p.grad.item())))
    (x * 2 + x * x).sum().backward()
    first.remove()
    (x * 2).sum().backward()
    return seen


def order(torch):
    """Each layer's gradient is there before the next layer's backward begins."""
    seen = []
    w = [torch.full((1,), float(i + 1), requires_grad=True) for i in range(3)]
    for i, each in enumerate(w):
        each.register_post_accumulate_grad_hook(lambda p, i=i: seen.append((i, p.grad.item())))
    h = torch.ones(1)
    for i, each in enumerate([*w, w[0]]):  # the first is used twice
        h = h * each
        h.register_hook(lambda g, i=i: seen.append(f"output {i}"))
    engine = torch.autograd.Variable._execution_engine
    h.register_hook(lambda g: engine.queue_callback(lambda: seen.append("end")))
    h.sum().backward()
    return seen


def test_several_hooks(reference):
    assert several(rushlight) == ask(several)


def test_order(reference):
    assert order(rushlight) == ask(order)


def test_a_leaf_that_is_gone():
    x, seen = rushlight.ones(1, requires_grad=True), []
    x.register_post_accumulate_grad_hook(seen.append)
    y = (x * 3).sum()
    del x
    y.backward()
    assert not seen


def test_callbacks_at_the_end():
    engine = rushlight.autograd.Variable._execution_engine
    with pytest.raises(RuntimeError, match="only be installed during backward"):
        engine.queue_callback(print)
    x = rushlight.ones(1, requires_grad=True)
    seen = []

    def inner(_):
        y = rushlight.ones(1, requires_grad=True)
        y.register_hook(lambda _: engine.queue_callback(lambda: seen.append("end")))
        with rushlight.enable_grad():
            (y * 2).sum().backward()
        seen.append("inner")

    handle = x.register_hook(inner)
    (x * 3).sum().backward()
    assert seen == ["inner", "end"]  # of the outermost pass
    handle.remove()
    x.register_hook(lambda _: engine.queue_callback(lambda: 1 / 0))
    with pytest.raises(ZeroDivisionError):
        (x * 3).sum().backward()
    with pytest.raises(TypeError, match="a function is needed"):
        x.register_hook(lambda _: engine.queue_callback(3))
        (x * 3).sum().backward()


def test_a_leaf_that_became_another_tensor():
    """Its node lives on in graphs, and knows of no leaf any more."""
    w = rushlight.ones(3, 3, requires_grad=True)

    def detach(x):
        x.detach_()

    def write(x):
        x.requires_grad_(False)
        x.mul_(w)

    for become in (detach, write):
        x = rushlight.empty_strided((3, 3), (1, 3)).fill_(1.0).requires_grad_()
        y = x * 2
        node = y.grad_fn.next_functions[0][0]
        assert node.variable is x
        become(x)
        assert node.variable is None
        del x
        assert node.variable is None
        y.sum().backward()  # whose gradient would have had the strides of the leaf
        assert w.grad is None
