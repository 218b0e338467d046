"""Rules of autograd.Function: what is written to, returned, named, and derived once."""

import warnings

import pytest

import rushlight
from tests.conftest import ask


def test_once_differentiable(reference):
    """A second derivative through it is refused, where there would be one."""

    def answer(torch):
        class Product(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a, b):
                ctx.save_for_backward(a, b)
                return a * b * b, a + 1

            @staticmethod
            @torch.autograd.function.once_differentiable
            def backward(ctx, g, h):
                _, b = ctx.saved_tensors
                assert not torch.is_grad_enabled()
                return g * b * b + h, None

        a, b = (torch.tensor(v, requires_grad=True) for v in (2.0, 3.0))
        seed = torch.ones((), requires_grad=True)
        found = []
        for grad in (seed.detach(), seed):
            (g,) = torch.autograd.grad(Product.apply(a, b)[0], a, grad, create_graph=True)
            found.append((g.item(), g.requires_grad, g.grad_fn and g.grad_fn.name()))
            try:
                g.backward()
            except RuntimeError as error:
                found.append(str(error).split("\n")[0])
        return found

    assert answer(rushlight) == ask(answer)


def test_defaults_and_names_with_setup_context(reference):
    def answer(torch):
        class Power(torch.autograd.Function):
            @staticmethod
            def forward(x, y=3, scale=1.0):
                return x.pow(y) * scale

            @staticmethod
            def setup_context(ctx, inputs, output):
                x, ctx.y, ctx.scale = inputs
                ctx.save_for_backward(x)

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return g * ctx.y * x.pow(ctx.y - 1) * ctx.scale, None, None

        x = torch.tensor(2.0, requires_grad=True)
        found = []
        for out in (Power.apply(x), Power.apply(x, 2), Power.apply(x, scale=5.0)):
            found.append((out.item(), torch.autograd.grad(out, x)[0].item()))
        return found

    assert answer(rushlight) == ask(answer)


def test_names_without_setup_context():
    class Twice(rushlight.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with pytest.raises(TypeError, match="no keyword arguments"):
        Twice.apply(x=rushlight.ones(1))


def test_gradgradcheck_watches_given_gradients_that_require_grad():
    check, x = rushlight.autograd.gradgradcheck, rushlight.ones(2, dtype=rushlight.float64)
    seed = rushlight.tensor([0.7, 0.3])  # of float32: a difference quotient would be too coarse
    assert check(lambda x: x**3, (x.requires_grad_(),), [seed])
    with pytest.warns(UserWarning, match="Input #1"), pytest.raises(RuntimeError, match="mismatch"):
        check(lambda x: x**3, (x,), [seed.requires_grad_()])


def test_what_was_written_to_is_returned(reference):
    """Or its history would miss the write."""

    def answer(torch):
        class Write(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, own):
                other = x * 3
                ctx.mark_dirty(other if own else x.add_(1))
                return other if own else x * 2

            @staticmethod
            def backward(ctx, g):
                return g, None

        found = []
        for requires_grad in (True, False):
            x = torch.ones(2, requires_grad=requires_grad)
            for own in (True, False):
                with warnings.catch_warnings(record=True) as seen:
                    warnings.simplefilter("always")
                    try:
                        found.append(Write.apply(x.clone(), own).tolist())
                    except RuntimeError as error:
                        found.append(str(error).split("\n")[0])
                found.append([str(w.message)[:130] for w in seen])
        return found

    assert answer(rushlight) == ask(answer)


def test_old_name_of_what_was_saved(reference):
    def answer(torch):
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, g):
                return 2 * g * ctx.saved_variables[0]

        x = torch.ones(1, requires_grad=True)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            Square.apply(x * 3).backward()
        return x.grad.item(), [(w.category.__name__, str(w.message)) for w in seen]

    assert answer(rushlight) == ask(answer)


def test_an_input_of_a_class_of_its_own_returned_as_it_is(reference):
    def answer(torch):
        class Own(torch.Tensor):
            pass

        class Same(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x

            @staticmethod
            def backward(ctx, g):
                return g * 2

        leaf = torch.ones(2, requires_grad=True)
        for x in (torch.ones(2).as_subclass(Own), leaf.as_subclass(Own)):
            y = Same.apply(x)
            assert y is not x and y.data_ptr() == x.data_ptr()
            found = type(y).__name__, y.requires_grad
        y.sum().backward()
        parameter = torch.nn.Parameter(torch.ones(2))
        return found, leaf.grad.tolist(), type(Same.apply(parameter)).__name__

    assert answer(rushlight) == ask(answer)


def test_another_name_of_grad():
    x = rushlight.nn.Parameter(rushlight.ones(2))
    x._grad = rushlight.zeros(2)
    assert x.grad is x._grad and x.grad.tolist() == [0, 0]
    x._grad = None
    assert x.grad is None
