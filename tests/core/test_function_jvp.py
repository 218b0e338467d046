"""Functions with a jvp(): forward-mode products go by it, all else by backward()."""

import pytest

import rushlight
from tests.conftest import ask


def cubes(torch):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(x, scale):
            return x**3, x * scale

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.scale = inputs
            ctx.save_for_backward(x)
            ctx.save_for_forward(x, output[0])

        @staticmethod
        def backward(ctx, g, h):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g + ctx.scale * h, None

        @staticmethod
        def jvp(ctx, t, nothing):
            x, _ = ctx.saved_tensors
            assert nothing is None
            return 3 * x**2 * t, ctx.scale * t

    return Cube


def exps(torch):
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.result = torch.exp(x)
            return ctx.result

        @staticmethod
        def jvp(ctx, t):
            out = t * ctx.result
            del ctx.result
            return out

    return Exp


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_product_by_jvp():
    def product(torch):
        cube, x = cubes(torch), torch.tensor([1.0, 2.0], dtype=torch.float64)
        value, tangent = torch.func.jvp(
            lambda x: cube.apply(x, 5.0), (x,), (torch.ones_like(x) * 2,)
        )
        return [t.tolist() for t in (*value, *tangent)]

    assert product(rushlight) == ask(product)


def test_a_dual_tensor_and_a_jvp_that_frees_what_it_saved():
    def tangent(torch):
        fw, own = torch.autograd.forward_ad, exps(torch)
        with fw.dual_level():
            x = fw.make_dual(torch.tensor([0.0, 1.0]), torch.tensor([2.0, 3.0]))
            return fw.unpack_dual(own.apply(x).sin()).tangent.tolist()

    assert tangent(rushlight) == pytest.approx(ask(tangent), rel=1e-5)


def test_gradcheck_of_jvp():
    def checked(torch):
        x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
        check = torch.autograd.gradcheck
        alone = {"check_backward_ad": False, "check_undefined_grad": False}
        return [
            check(lambda x: cubes(torch).apply(x, 5.0), (x,), check_forward_ad=True),
            check(exps(torch).apply, (x,), check_forward_ad=True, **alone),
        ]

    assert checked(rushlight) == ask(checked) == [True, True]


def test_a_wrong_jvp_fails_gradcheck():
    class Wrong(rushlight.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            return t * 3

    x = rushlight.ones(2, dtype=rushlight.float64, requires_grad=True)
    assert rushlight.autograd.gradcheck(Wrong.apply, (x,))
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        rushlight.autograd.gradcheck(Wrong.apply, (x,), check_forward_ad=True)
    rows = rushlight.func.jacfwd(Wrong.apply)(x.detach())
    assert rows.tolist() == [[3.0, 0.0], [0.0, 3.0]]
    assert rushlight.func.jacrev(Wrong.apply)(x.detach()).tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_backward_needs_backward():
    def refused(torch):
        x = torch.ones(2, requires_grad=True)
        with pytest.raises(NotImplementedError) as caught:
            exps(torch).apply(x).sum().backward()
        return str(caught.value)

    assert refused(rushlight) == ask(refused)


def test_grad_fn_applies_backward():
    def applied(torch):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        got, nothing = cubes(torch).apply(x, 5.0)[0].grad_fn.apply(torch.ones(2), torch.ones(2) * 2)
        return got.tolist(), nothing, got.requires_grad

    assert applied(rushlight) == ask(applied)
