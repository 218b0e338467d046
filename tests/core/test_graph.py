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


def wanted(result, operands, one):
    """Which gradients the last node computed where that of one operand was asked for."""
    seen = []
    handle = result.grad_fn.register_hook(lambda inputs, outputs: seen.append(inputs))
    one_of_all = torch.autograd.grad(result.sum(), operands[one], retain_graph=True)[0]
    handle.remove()
    expected = torch.autograd.grad(result.sum(), operands, retain_graph=True)[one]
    assert torch.equal(one_of_all, expected)
    return [g is not None for g in seen[0] if g is None or g.shape]


def test_gradients_that_nobody_asked_for_are_not_computed():
    def leaves(*shapes):
        return [torch.rand(s).requires_grad_() for s in shapes]

    f = torch.nn.functional
    for call, shapes in (
        (torch.mul, ((3,), (3,))),
        (torch.mm, ((3, 4), (4, 5))),
        (torch.bmm, ((2, 3, 4), (2, 4, 5))),
        (f.conv2d, ((2, 3, 5, 5), (4, 3, 3, 3), (4,))),
        (lambda x, w, b: f.layer_norm(x, (4,), w, b), ((3, 4), (4,), (4,))),
        (lambda a, b: torch.cat((a, b)), ((2,), (3,))),
    ):
        operands = leaves(*shapes)
        for one in range(len(shapes)):
            computed = wanted(call(*operands), operands, one)
            assert computed == [i == one for i in range(len(shapes))], (call, one)


def test_a_pass_within_one_of_few_gradients_computes_its_own():
    x, w = torch.ones(2, requires_grad=True), torch.full((2,), 3.0, requires_grad=True)
    total = (w * x).sum()
    y = x * w
    y.register_hook(lambda g: total.backward())
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == [3, 3]
    assert w.grad.tolist() == [1, 1] and x.grad.tolist() == [3, 3]
