"""Views made by no_grad(), inference_mode() or a custom Function, and writes to them in grad mode.

Such a write cannot be recorded, so it is refused, in torch's words; under no_grad() it is allowed.
"""

import pytest

import rushlight

VIEWS = {
    "select": lambda t, x: x[0],
    "slice": lambda t, x: x[0:1],
    "view": lambda t, x: x.view(-1),
    "reshape": lambda t, x: x.reshape(4),
    "transpose": lambda t, x: x.t(),
    "permute": lambda t, x: x.permute(1, 0),
    "unbind": lambda t, x: x.unbind(0)[0],
    "split": lambda t, x: x.split(1)[0],
    "chunk": lambda t, x: x.chunk(2)[0],
    "tensor_split": lambda t, x: x.tensor_split(2)[0],
    "narrow": lambda t, x: x.narrow(0, 0, 1),
    "unsqueeze": lambda t, x: x[None],
    "expand_as": lambda t, x: x.expand_as(x),
    "diagonal": lambda t, x: x.diagonal(),
    "unfold": lambda t, x: x.unfold(0, 2, 1),
    "as_strided": lambda t, x: x.as_strided((2,), (1,)),
    "view_as": lambda t, x: x.view_as(x),
    "a view of a view": lambda t, x: x.view(-1)[:2],
    "detach": lambda t, x: x.detach(),
    "a view of detach": lambda t, x: x.detach()[0],
}

WRITES = {
    "mul_": lambda t, y, p: y.mul_(2),
    "add_ of what needs a gradient": lambda t, y, p: y.add_(p.sum()),
    "copy_": lambda t, y, p: y.copy_(p.sum()),
    "zero_": lambda t, y, p: y.zero_(),
    "an index": lambda t, y, p: y.__setitem__(..., 7),
    "a view of it": lambda t, y, p: y[:1].mul_(2),
}


def outcome(run, torch):
    """What a program sees: numbers and flags, or the first line of its error."""
    try:
        return run(torch)
    except RuntimeError as error:
        return str(error).split("\n")[0]


def same_in_both(run, reference):
    assert outcome(run, rushlight) == outcome(run, reference)


def made(torch, mode, view, leaf):
    p = torch.ones(2, 2, requires_grad=True)
    x = p if leaf else p * 3
    with getattr(torch, mode)():
        y = VIEWS[view](torch, x)
    return p, x, y


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_write_in_grad_mode(reference, view, mode):
    for write in WRITES.values():
        for leaf in (False, True):

            def run(torch, write=write, leaf=leaf):
                p, x, y = made(torch, mode, view, leaf)
                write(torch, y, p)
                x.sum().backward()
                return y.requires_grad, y.tolist(), p.grad.tolist()

            same_in_both(run, reference)


@pytest.mark.parametrize("view", VIEWS)
def test_a_write_under_no_grad(reference, view):
    def run(torch):
        p, x, y = made(torch, "no_grad", view, False)
        with torch.no_grad():
            y.mul_(2)
        x.sum().backward()
        return x.tolist(), p.grad.tolist()

    same_in_both(run, reference)


@pytest.mark.parametrize("leaf", [False, True])
def test_what_such_a_view_says_of_itself(reference, leaf):
    def run(torch):
        _, x, y = made(torch, "no_grad", "select", leaf)
        z = y * 2
        return (
            y._is_view(),
            y._base is x,
            y.requires_grad,
            y.is_leaf,
            y.grad_fn,
            str(y),
            z.requires_grad,
            [step for step, _ in z.grad_fn.next_functions],
        )

    same_in_both(run, reference)


def test_the_base_is_written_to(reference):
    def then(use):
        def run(torch):
            _, x, y = made(torch, "no_grad", "select", False)
            x.mul_(2)
            return use(y)

        return run

    for use in (lambda y: y.grad_fn, lambda y: (y * 2).tolist(), str, lambda y: y.sum().item()):
        same_in_both(then(use), reference)


def test_a_view_gets_the_history_of_what_was_written_to_its_base(reference):
    def run(torch):
        p = torch.ones(3, requires_grad=True)
        x = torch.ones(3)
        view = x[:2]
        x.mul_(p)
        (view * 2).sum().backward()
        return p.grad.tolist()

    same_in_both(run, reference)
    assert run(rushlight) == [2, 2, 0]


def test_a_leaf_that_needs_a_gradient_after_its_view_was_made(reference):
    def run(torch):
        x = torch.zeros(3)
        view = x[:2]
        x.requires_grad_()
        return view.requires_grad, str(view), (view * 2).requires_grad

    same_in_both(run, reference)


FORWARDS = {
    "a view": lambda x: x.view(-1),
    "a view of its own result": lambda x: (x * 2).view(-1),
    "its input": lambda x: x,
    "a new tensor": lambda x: x * 2,
    "two views": lambda x: tuple(x.view(-1).split(2)),
}


@pytest.mark.parametrize("forward", FORWARDS)
@pytest.mark.parametrize("write", ["none", "mul_", "of a view", "of the input"])
def test_results_of_a_custom_function(forward, write):
    reference = pytest.importorskip("torch")  # a class that inherits from torch is not recorded

    def run(torch):
        class Custom(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return FORWARDS[forward](x)

            @staticmethod
            def backward(ctx, *grads):
                return torch.cat([g.reshape(-1) for g in grads]).reshape(2, 2) * 10

        p = torch.ones(2, 2, requires_grad=True)
        x = p * 3
        y = Custom.apply(x)
        y = y[0] if forward == "two views" else y
        if write == "mul_":
            y.mul_(2)
        elif write == "of a view":
            y[:1].mul_(2)
        elif write == "of the input":
            x.mul_(2)
        y.sum().backward()
        return y._is_view(), p.grad.tolist()

    same_in_both(run, reference)
