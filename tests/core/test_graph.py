"""The classes of grad_fn, which programs that draw graphs go by."""

import gc
import weakref

import rushlight as torch


def test_a_node_is_of_a_class_named_as_its_operation():
    x = torch.ones(2, requires_grad=True)
    node = (x * 2).relu().grad_fn
    assert type(node).__name__ == "ReluBackward0" == node.name()
    assert str(type(node)) == "<class 'ReluBackward0'>" and type(node).__module__ == "builtins"
    inner, leaf = node.next_functions[0][0], node.next_functions[0][0].next_functions[0][0]
    assert [type(n).__name__ for n in (inner, leaf)] == ["MulBackward0", "AccumulateGrad"]
    assert leaf.variable is x and type((x * 3).grad_fn) is type(inner)
    assert node.next_functions[0][0] is inner

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

    assert type(Twice.apply(x).grad_fn).__name__ == "TwiceBackward"


def test_such_nodes_die():
    x = torch.ones(2, requires_grad=True)
    node = (x * 2).grad_fn
    gone = weakref.ref(node)
    for _ in range(1000):
        assert (x * 2).grad_fn.next_functions[0][0] is not None
    del node
    gc.collect()
    assert gone() is None


def test_a_module_that_is_not_there():
    assert not hasattr(torch.autograd, "_profiler")


def test_the_last_operation_of_a_smoothed_loss():
    x = torch.ones(2, 3, requires_grad=True)
    target = torch.tensor([0, 1])
    names = [
        type(torch.nn.functional.cross_entropy(x, target, label_smoothing=s).grad_fn).__name__
        for s in (0.0, 0.1)
    ]
    assert names == ["NllLossBackward0", "AddBackward0"]
