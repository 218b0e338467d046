"""A gradient is one Python object for all hooks and Functions that see it, and its attributes and
data are theirs."""

import weakref

import rushlight as torch


def test_a_gradient_is_one_object_in_all_hooks():
    x = torch.ones(2, requires_grad=True)
    found = []
    y = x.clone()
    y.register_hook(lambda g: setattr(g, "note", 7))
    y.register_hook(lambda g: found.append(g.note))
    y.grad_fn.register_prehook(lambda grads: found.append(grads[0].note))
    x.register_hook(lambda g: found.append(g.note))  # clone() passes its gradient on
    y.sum().backward()
    assert found == [7, 7, 7]
    assert not hasattr(x.grad, "note")
    kept = []
    y = torch.ones(2, requires_grad=True).clone()
    y.register_hook(kept.append)
    y.register_hook(kept.append)
    y.register_hook(lambda g: g * 2)
    y.register_hook(kept.append)
    y.sum().backward()
    assert kept[0] is kept[1] and kept[2].tolist() == [2.0, 2.0]


def test_data_of_a_gradient_may_be_set():
    x = torch.ones(2, requires_grad=True)
    kept = []

    def shrink(g):
        kept.append(g)
        g.data = torch.zeros(1)

    y = x.clone()
    y.register_hook(shrink)
    (y * torch.ones(2)).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


class Identity(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        Identity.found.append(getattr(g, "note", None))
        g.note = 9
        return g


def test_a_gradient_is_one_object_in_functions_too():
    x = torch.ones(2, requires_grad=True)
    found = Identity.found = []
    y = Identity.apply(x.clone())
    y.register_hook(lambda g: setattr(g, "note", 7))
    y.grad_fn.next_functions[0][0].register_prehook(lambda grads: found.append(grads[0].note))
    (y * torch.ones(2)).sum().backward()
    assert found == [7, 9]
    assert x.grad.tolist() == [1.0, 1.0] and not hasattr(x.grad, "note")


def test_a_gradient_is_one_object_in_hooks_after_its_node():
    y = torch.ones(2, requires_grad=True) * 2
    found = []
    y.register_hook(lambda g: setattr(g, "note", 7))
    y.grad_fn.register_hook(lambda inputs, outputs: found.append(outputs[0].note))
    y.sum().backward()
    assert found == [7]


def test_a_gradient_is_one_object_in_hooks_of_modules():
    layer = torch.nn.Linear(3, 3)
    found = []

    def write(module, inputs, outputs):
        inputs[0].note, outputs[0].note = 2, 1

    layer.register_full_backward_hook(write)
    layer.register_full_backward_hook(
        lambda module, inputs, outputs: found.append((inputs[0].note, outputs[0].note))
    )
    x = torch.ones(2, 3, requires_grad=True)
    x.register_hook(lambda g: found.append(g.note))
    layer(x).sum().backward()
    assert found == [(2, 1), 2]


def test_what_a_function_returned_dies_when_it_was_used():
    alive = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, g):
            alive.append(weakref.ref(g))
            made = 2 * g
            alive.append(weakref.ref(made))
            return made

    x = torch.ones(2, requires_grad=True)
    y = Double.apply((x * 3).exp())
    y.register_hook(lambda g: None)
    x.register_hook(lambda g: alive.append([a() for a in alive]))
    y.sum().backward()
    assert alive[-1] == [None, None]


def test_a_gradient_that_a_function_changes_in_place():
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, g):
            return g.mul_(3)

    x = torch.ones(2, requires_grad=True)
    Scale.apply(x * 2).sum().backward(retain_graph=True)
    assert x.grad.tolist() == [6.0, 6.0]
