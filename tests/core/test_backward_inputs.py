"""What inputs= of a backward pass may be and keeps, and which graphs run again after one."""

import pytest

import rushlight
from tests.conftest import ask


def outcome(call):
    try:
        return call()
    except (RuntimeError, TypeError, ValueError) as error:
        return type(error).__name__, str(error).partition("\n")[0]


def test_inputs_that_are_no_leaves_keep_their_gradients():
    def kept(torch):
        x = torch.tensor([2.0], requires_grad=True)
        y = x.clone()
        (y**2).sum().backward(inputs=[x, y])
        first = x.grad.item(), y.grad.item()
        (y**3).sum().backward(inputs=y)
        torch.autograd.backward((y * 4).sum(), inputs=(z for z in [y]))
        return first, x.grad.item(), y.grad.item(), y.retains_grad

    assert kept(rushlight) == ask(kept)


def test_kept_gradients_of_complex_tensors():
    def kept(torch):
        x = torch.tensor([1 + 2j, 3.0], requires_grad=True)
        y = x * 2j
        y.retain_grad()
        torch.view_as_real(y * y.conj())[..., 0].sum().backward()
        return y.grad.tolist(), x.grad.tolist()

    assert kept(rushlight) == ask(kept)


@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_kept_gradient_adds_up_where_the_backward_is_recorded():
    def kept(torch):
        x = torch.tensor([2.0], requires_grad=True)
        y = x * 1
        y.retain_grad()
        z = (y**2).sum()
        z.backward(create_graph=True)
        z.backward(create_graph=True)
        return y.grad.item(), y.grad.requires_grad

    assert kept(rushlight) == pytest.approx(ask(kept))


def test_a_dict_names_the_inputs():
    def named(torch):
        a, b = (torch.tensor(v, requires_grad=True) for v in (2.0, 3.0))
        found = torch.autograd.grad(a * b, {"a": a, "b": b})
        (a * b * b).backward(inputs={"b": b})
        return {k: v.item() for k, v in found.items()}, a.grad is None, b.grad.item()

    assert named(rushlight) == ask(named)


def test_what_is_filled_with_zeros():
    def filled(torch):
        edge = torch.autograd.graph.get_gradient_edge
        x, y = (torch.tensor([1.0], requires_grad=True).clone() for _ in range(2))
        (zero,) = torch.autograd.grad(x * 2, y, create_graph=True, materialize_grads=True)
        (twice,) = torch.autograd.grad(zero, y, materialize_grads=True)
        grad = torch.autograd.grad
        return [
            zero.requires_grad,
            twice.tolist(),
            outcome(lambda: grad(x.clone(), (x, edge(y)), materialize_grads=True)),
            outcome(lambda: grad(x.clone(), [])),
        ]

    assert filled(rushlight) == ask(filled)


GRAPHS = {
    "unbind": lambda torch, x: x.unbind()[0],
    "split": lambda torch, x: x.split(2)[0],
    "split of sizes": lambda torch, x: x.split([1, 3])[0],
    "chunk": lambda torch, x: x.chunk(2)[0],
    "cat": lambda torch, x: torch.cat([x, x]),
    "stack": lambda torch, x: torch.stack([x, x]),
    "remainder": lambda torch, x: x.remainder(2),
    "fmod": lambda torch, x: x.fmod(2),
    "sin": lambda torch, x: x.sin(),
    "exp": lambda torch, x: x.exp(),
    "pow": lambda torch, x: x**2,
    "product": lambda torch, x: x * x,
}


@pytest.mark.parametrize("name", list(GRAPHS))
def test_what_saved_no_tensor_runs_again(name):
    def gradient(torch):
        x = torch.arange(4.0).requires_grad_()
        y = GRAPHS[name](torch, x).sum()
        y.backward()
        again = outcome(lambda: y.backward())
        return x.grad.tolist(), again and again[0]

    ours, theirs = gradient(rushlight), ask(gradient)
    assert ours[0] == pytest.approx(theirs[0]) and ours[1] == theirs[1]


def test_each_part_has_a_backward_of_its_own():
    def gradient(torch):
        x = torch.arange(4.0).requires_grad_()
        for part in x.split(2):
            part.sum().backward()
        return x.grad.tolist()

    assert gradient(rushlight) == ask(gradient) == [1.0] * 4


def test_a_recorded_backward_warns_of_cycles():
    x = rushlight.tensor([2.0], requires_grad=True)
    rushlight.set_warn_always(True)
    try:
        for call in (rushlight.Tensor.backward, rushlight.autograd.backward):
            with pytest.warns(UserWarning, match="will create a reference cycle between the param"):
                call((x**2).sum(), create_graph=True)
        rushlight.autograd.grad((x**2).sum(), x, create_graph=True)
        (x**2).sum().backward()
    finally:
        rushlight.set_warn_always(False)
        x.grad = None


def test_a_gradient_under_its_older_name():
    x = rushlight.ones(2, requires_grad=True)
    assert x._grad is None
    x._grad = rushlight.full((2,), 3.0)
    assert x.grad.tolist() == [3.0, 3.0] and x._grad is x.grad
    with pytest.raises(RuntimeError, match="attempting to assign a gradient of size"):
        x._grad = rushlight.ones(3)
