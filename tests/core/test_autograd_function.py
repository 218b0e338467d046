"""autograd.Function, hooks and in-place history against torch."""

import gc
import importlib
import inspect

import numpy as np
import pytest

import rushlight
from tests.conftest import ask


def both(test):
    """The same test of torch shows that what it expects of us is right."""

    @pytest.mark.parametrize("library", ["rushlight", "torch"])
    def run(library):
        test(rushlight) if library == "rushlight" else ask(test)

    run.__doc__ = test.__doc__
    return run


def _square(m):
    class Square(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale):
            y = x * x * scale
            ctx.save_for_backward(x, y)
            ctx.scale = scale
            return y

        @staticmethod
        def backward(ctx, grad):
            x, _ = ctx.saved_tensors
            return grad * 2 * x * ctx.scale, None

    return Square


@both
def test_function_first_and_second_derivative(m):
    x = m.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = _square(m).apply(x, 3.0)
    assert y.grad_fn.name() == "SquareBackward"
    (g,) = m.autograd.grad(y, x, m.ones_like(y), create_graph=True)
    assert g.tolist() == [6.0, 12.0, 18.0]
    (gg,) = m.autograd.grad(g, x, m.ones_like(g))
    assert gg.tolist() == [6.0, 6.0, 6.0]


@both
def test_setup_context_and_unused_outputs(m):
    class Two(m.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2, x * 3

        @staticmethod
        def setup_context(ctx, inputs, output):
            (x,) = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, a, b):
            assert b.tolist() == [0.0]
            return a * 2 + b * 3

    x = m.tensor([1.0], requires_grad=True)
    a, _ = Two.apply(x)
    a.backward()
    assert x.grad.tolist() == [2.0]


@both
def test_wrong_gradients_are_refused(m):
    def make(result):
        class Wrong(m.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                return result(m, grad)

        x = m.ones(2, requires_grad=True)
        Wrong.apply(x).backward(m.ones(2))

    with pytest.raises(RuntimeError, match="incorrect number of gradients"):
        make(lambda m, g: (g, g))
    with pytest.raises(RuntimeError, match="invalid gradient at index 0"):
        make(lambda m, g: m.ones(3))
    with pytest.raises(RuntimeError, match="expected Variable or None"):
        make(lambda m, g: "no tensor")


def test_a_function_that_saves_its_output_leaves_no_cycle():
    class Exp(rushlight.autograd.Function):
        alive = 0

        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(y)
            ctx.token = Token()
            return y

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    class Token:
        def __init__(self):
            Exp.alive += 1

        def __del__(self):
            Exp.alive -= 1

    gc.disable()
    try:
        y = Exp.apply(rushlight.ones(2, requires_grad=True))
        assert Exp.alive == 1
        del y
        assert Exp.alive == 0
    finally:
        gc.enable()


@both
def test_hooks_see_and_replace_gradients(m):
    seen = []
    x = m.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.retain_grad()
    handle = y.register_hook(lambda g: seen.append(g.tolist()) or g * 10)
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    (y * 2).backward(m.ones(2))
    assert seen == [[2.0, 2.0], [60.0, 60.0]]
    assert y.grad.tolist() == [20.0, 20.0]
    handle.remove()


@both
def test_in_place_through_views_keeps_the_history(m):
    x = m.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    row, column = y[0], y[:, 1]
    row.mul_(5)
    assert row.grad_fn.name() == "AsStridedBackward0"
    (column * column).backward(m.ones(2))
    assert x.grad.tolist() == [[0.0, 100.0], [0.0, 8.0]]


@both
def test_saved_tensors_that_were_written_to_are_noticed(m):
    x = m.ones(3, requires_grad=True)
    y = x * 2
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward(m.ones(3))
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        x[0].add_(1)


@both
def test_second_backward_needs_retain_graph(m):
    x = m.ones(3, requires_grad=True)
    y = x * x
    y.backward(m.ones(3), retain_graph=True)
    y.backward(m.ones(3))
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward(m.ones(3))


def test_a_long_chain_needs_no_stack():
    import threading

    def work():
        x = rushlight.ones(1, requires_grad=True)
        y = x
        for _ in range(200_000):
            y = y + y.detach()
            y = y * 0.5
        y.backward(rushlight.ones(1))
        result.append(x.grad.item())
        del y

    result = []
    previous = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(previous)
    assert len(result) == 1


def test_gradcheck_is_a_function_after_its_module_is_imported():
    importlib.import_module("rushlight.autograd.gradcheck")
    assert inspect.isfunction(rushlight.autograd.gradcheck)


def test_gradcheck_finds_a_wrong_gradient():
    class Wrong(rushlight.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    x = rushlight.tensor([1.0, 2.0], dtype=rushlight.float64, requires_grad=True)
    assert rushlight.autograd.gradcheck(lambda x: x * x * 2, x)
    assert rushlight.autograd.gradgradcheck(lambda x: x * x * x, x)
    assert not rushlight.autograd.gradcheck(Wrong.apply, x, raise_exception=False)
    np.testing.assert_allclose(x.detach().numpy(), [1.0, 2.0])


def test_an_error_outlives_the_graph_that_dies_with_it():
    import sys

    class Fails(rushlight.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            sys._clear_type_cache()  # attributes are looked for again, with an error pending
            raise KeyError("mine")

    for _ in range(3):
        with pytest.raises(KeyError, match="mine"):
            Fails.apply(rushlight.ones(2, requires_grad=True)).sum().backward()


@both
def test_the_grad_fn_shows_and_takes_what_ctx_has(t):
    class Scaled(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.options = {"factor": factor}
            ctx.save_for_backward(x)
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.options["factor"] * ctx.again, None

    x = t.ones(2, requires_grad=True)
    y = Scaled.apply(x, 3)
    assert y.grad_fn.options == {"factor": 3}
    assert y.grad_fn.needs_input_grad == (True, False)
    assert y.grad_fn.saved_tensors[0].tolist() == [1, 1]
    y.grad_fn.options["factor"] = 5
    y.grad_fn.again = 2
    y.sum().backward()
    assert x.grad.tolist() == [10, 10]
    with pytest.raises(RuntimeError, match="second time"):
        y.grad_fn.saved_tensors
    del y.grad_fn.again
    with pytest.raises(AttributeError):
        del y.grad_fn.again
    with pytest.raises(AttributeError):
        y.grad_fn.next_functions = ()
    with pytest.raises(AttributeError, match="'ScaledBackward' object has no attribute 'again'"):
        y.grad_fn.again
    with pytest.raises(AttributeError):
        (x * 2).grad_fn.again = 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's, of its own use of jit
@both
def test_a_function_with_jvp_alone_goes_forward(m):
    class Product(m.autograd.Function):
        @staticmethod
        def forward(x, y, scale):
            return x * y * scale, x + y

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, y, ctx.scale = inputs
            ctx.save_for_forward(x, y)

        @staticmethod
        def jvp(ctx, dx, dy, dscale):
            assert dscale is None
            x, y = ctx.saved_tensors
            return (dx * y + x * dy) * ctx.scale, dx + dy

    x, y = m.tensor([1.0, 2.0]), m.tensor([3.0, 5.0])
    tangents = m.tensor([1.0, 0.0]), m.tensor([0.5, 2.0])
    values, found = m.func.jvp(lambda a, b: Product.apply(a, b, 2.0), (x, y), tangents)
    assert values[0].tolist() == [6, 20] and values[1].tolist() == [4, 7]
    assert found[0].tolist() == [7, 8] and found[1].tolist() == [1.5, 2]

    forward_ad = importlib.import_module(f"{m.__name__}.autograd.forward_ad")
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, tangents[0])
        first, second = Product.apply(dual * 2, y, 2.0)
        assert forward_ad.unpack_dual(first).tangent.tolist() == [12, 0]
        assert forward_ad.unpack_dual(second.sin()).tangent is not None

    z = x.clone().requires_grad_()
    with pytest.raises((NotImplementedError, RuntimeError), match="backward or vjp"):
        Product.apply(z, y, 2.0)[0].sum().backward()


def test_an_input_that_is_saved_and_returned():
    """It is saved as the input that it is: with what it was computed from, not as an output."""

    def run(library):
        seen = []

        class Same(library.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                seen.append((x.requires_grad, x.is_leaf, type(x.grad_fn).__name__))
                return g * x

        leaf = library.tensor([2.0], requires_grad=True)
        for x in (leaf, leaf * 2):
            y = Same.apply(x)
            seen.append(y is x)
            y.sum().backward()
        return seen, leaf.grad.tolist()

    assert run(rushlight) == ask(run)


def adding(torch, count=1):
    class Adds(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            a.add_(b)
            ctx.mark_dirty(a)
            ctx.save_for_backward(a, b)
            return a if count == 1 else (a, b * 2)

        @staticmethod
        def backward(ctx, g, *rest):
            a, b = ctx.saved_tensors
            return g * 3 + a * 0, g * b

    return Adds


def test_a_function_writes_through_a_view():
    def gradients(torch):
        x, b = (torch.tensor(v, requires_grad=True) for v in ([1.0, 2.0, 4.0], [3.0, 5.0]))
        y = x * 2
        c = adding(torch).apply(y[1:], b)
        (c.sum() + (y * y).sum()).backward()
        return x.grad.tolist(), b.grad.tolist(), y.tolist(), y.grad_fn.name(), c.requires_grad

    assert gradients(rushlight) == ask(gradients)


def test_a_function_of_two_results_does_not_write_through_a_view():
    def refused(torch):
        x, b = (torch.ones(2, requires_grad=True) for _ in range(2))
        try:
            adding(torch, 2).apply((x * 2).view(2), b)
        except RuntimeError as error:
            return str(error).partition(".")[0]

    assert refused(rushlight) == ask(refused)


def test_one_of_backward_and_vjp():
    def refused(torch):
        class Both(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()

            @staticmethod
            def backward(ctx, g):
                return g

            @staticmethod
            def vjp(ctx, g):
                return g

        try:
            Both.apply(torch.ones(1, requires_grad=True)).sum().backward()
        except RuntimeError as error:
            return str(error)

    assert refused(rushlight) == ask(refused)


def test_gradcheck_leaves_out_outputs_without_a_history():
    def checked(torch):
        x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
        f = lambda x: (x.detach() * 3, x * x)  # noqa: E731
        check, twice = torch.autograd.gradcheck, torch.autograd.gradgradcheck
        return [check(f, x), twice(f, x), check(f, x, check_batched_grad=True)]

    assert checked(rushlight) == ask(checked) == [True] * 3


def test_a_function_of_more_outputs_than_a_node_has():
    class Many(rushlight.autograd.Function):
        @staticmethod
        def forward(ctx, x, n):
            return (x * 1,) * n

        @staticmethod
        def backward(ctx, *grads):
            return grads[-1], None

    x = rushlight.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="at most 65535 outputs"):
        Many.apply(x, 65536)
    Many.apply(x, 65535)[-1].backward()
    assert x.grad.item() == 1


def test_what_a_ctx_has_of_a_node_that_is_gone():
    class Double(rushlight.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            kept.append(ctx)
            ctx.save_for_backward(x)
            return x * 2

    kept = []
    y = Double.apply(rushlight.ones(1, requires_grad=True))
    link = kept[0]._node
    assert rushlight._C._saved_of(link)[0].item() == 1
    del y
    gc.collect()
    assert kept[0].saved_tensors == ()
    with pytest.raises(RuntimeError, match="is gone"):
        rushlight._C._saved_of(link)
    with pytest.raises(TypeError):
        rushlight._C._saved_of(rushlight.ones(1).__dlpack__())


def test_a_function_whose_arguments_are_none():
    """Its results are leaves."""
    ctx = rushlight.autograd.function.FunctionCtx()
    made = rushlight._C._finish_function(_square(rushlight), ctx, (), rushlight.ones(1), True)
    assert made.grad_fn is None and made.grad is None
