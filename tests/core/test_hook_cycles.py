"""Hooks and a Function's ctx that refer to the tensor they belong to: the collector finds them."""

import gc
import weakref

import pytest

import rushlight
from tests.conftest import ask


def tensor_hook(torch):
    y = torch.ones(2, requires_grad=True) * 2
    y.register_hook(lambda g: g * y)
    return y


def leaf_hook(torch):
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: g * x)
    (x * 2).sum().backward()
    return x


def kept_handle(torch):
    x = torch.ones(2, requires_grad=True)
    x.handle = x.register_hook(lambda g: g * x)
    return x


def after_accumulation(torch):
    x = torch.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda leaf: x.zero_())
    return x


def node_hook(torch):
    y = torch.ones(2, requires_grad=True) * 2
    y.grad_fn.register_hook(lambda a, b: y)
    return y


def node_prehook(torch):
    y = torch.ones(2, requires_grad=True) * 2
    y.grad_fn.register_prehook(lambda a: y)
    return y


def metadata(torch):
    y = torch.ones(2, requires_grad=True) * 2
    y.grad_fn.metadata["of"] = y
    return y


def context(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    y = Double.apply(torch.ones(2, requires_grad=True))
    y.grad_fn.result = y
    return y


def module(torch):
    """A parameter's hook that reads the module."""

    class Masked(torch.nn.Linear):
        def __init__(self):
            super().__init__(2, 2)
            self.handle = self.weight.register_hook(lambda g: g * self.mask)
            self.mask = torch.eye(2)

    masked = Masked()
    masked(torch.ones(1, 2)).sum().backward()
    return masked


CYCLES = [
    tensor_hook, leaf_hook, kept_handle, after_accumulation, node_hook, node_prehook, metadata,
    context, module,
]  # fmt: skip


def is_collected(torch, make):
    made = weakref.ref(make(torch))
    gc.collect()
    return made() is None


@pytest.mark.parametrize("make", CYCLES)
def test_cycle(make):
    assert is_collected(rushlight, make)


def held(torch):
    """What someone holds stays, and so do its hooks."""
    y = tensor_hook(torch)
    x = torch.ones(2, requires_grad=True)

    def loss():
        z = x * 3
        z.register_hook(lambda g: g * z)
        return z.sum(), weakref.ref(z)

    total, alive = loss()
    gc.collect()
    seen = [alive() is not None]
    total.backward()
    (grad,) = torch.autograd.grad(y.sum(), y)
    return [*seen, x.grad.tolist(), grad.tolist()]


def test_what_is_held_stays(reference):
    assert held(rushlight) == ask(held)


def test_a_handle_keeps_no_graph():
    class Mark:
        pass

    y = rushlight.ones(2, requires_grad=True) * 2
    mark = Mark()
    alive = weakref.ref(mark)
    handle = y.register_hook(lambda g, mark=mark: None)
    del mark, y
    assert alive() is None
    handle.remove()
    handle.remove()
