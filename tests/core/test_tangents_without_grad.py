"""Forward mode under no_grad(), and Functions that have no jvp()."""

import pytest

import rushlight
from tests.conftest import ask


def listed(t):
    return t if t is None else [round(v, 5) for v in t.flatten().tolist()]


def under_no_grad(torch):
    """The level opened inside of it: a tangent needs no recording."""
    fw = torch.autograd.forward_ad
    found = []
    with torch.no_grad(), fw.dual_level():
        x = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5]))
        y = (x * 3).sin()
        found += [torch.is_grad_enabled(), listed(fw.unpack_dual(y).tangent)]
        y[0] = 5
        y[1:].mul_(3)
        found.append(listed(fw.unpack_dual(y).tangent))
        w = torch.nn.Linear(2, 2)
        with torch.no_grad():
            w.weight.fill_(0.5)
        found += [listed(fw.unpack_dual(w(x)).tangent), w(x.detach()).requires_grad]
        plain = torch.ones(2, requires_grad=True)
        made = plain * 2
        plain.add_(1)
        found += [made.requires_grad, listed(fw.unpack_dual(made).tangent), plain.tolist()]
        found.append(listed(fw.unpack_dual(plain * x).tangent))
        found.append(listed(fw.unpack_dual(torch.cat([x, plain])).tangent))
        found.append(listed(fw.unpack_dual(torch.atan2(x, plain)).tangent))
        out = torch.zeros(2)
        out.copy_(x)
        found.append(listed(fw.unpack_dual(out).tangent))
    return [*found, torch.is_grad_enabled(), (plain * 2).requires_grad]


def no_grad_within(torch):
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5]))
        y = x.exp()
        with torch.no_grad():
            z = y * x
            with torch.enable_grad():
                w = z * 2
        with torch.inference_mode():
            of_inference = fw.unpack_dual(x * 2).tangent
        return [listed(fw.unpack_dual(t).tangent) for t in (y, z, w, w.detach())], of_inference


def products(torch):
    """A part under no_grad() counts in a jvp(), and not in a vjp()."""

    def f(x):
        with torch.no_grad():
            y = x * 2
        return y + x * x

    x, t = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5])
    func = torch.func
    with torch.no_grad():
        outside = listed(func.jvp(f, (x,), (t,))[1])
    return [
        outside,
        listed(func.jvp(f, (x,), (t,))[1]),
        listed(func.jacfwd(f)(x)),
        listed(func.jacrev(f)(x)),
        listed(func.vjp(f, x)[1](t)[0]),
    ]


def level_after_level(torch):
    """What had a tangent in a level has none in the next."""
    fw = torch.autograd.forward_ad
    with torch.no_grad():
        with fw.dual_level():
            x = fw.make_dual(torch.ones(2), torch.ones(2))
            y = x * 2
        with fw.dual_level():
            return [fw.unpack_dual(y * 3).tangent, fw.unpack_dual(x).tangent]


def functions(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(x):
            with torch.no_grad():
                return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class WithProduct(Double):
        @staticmethod
        def jvp(ctx, t):
            return t * 2

    fw, func = torch.autograd.forward_ad, torch.func
    x, t = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5])

    def dual(function):
        with fw.dual_level():
            return fw.unpack_dual(function(fw.make_dual(x, t))).tangent

    def without_grad(function):
        with torch.no_grad():
            return dual(function)

    calls = [
        dual,
        without_grad,
        lambda function: func.jvp(function, (x,), (t,))[1],
        lambda function: func.vjp(function, x)[1](t)[0],
        lambda function: torch.autograd.functional.jvp(function, x, t)[1],
        lambda function: func.grad(lambda x: function(x).sum())(x),
    ]
    found = []
    for own in (Double, WithProduct):
        for call in calls:
            try:
                found.append(listed(call(own.apply)))
            except NotImplementedError as error:
                found.append(str(error))
    with fw.dual_level():
        fw.make_dual(x, t)
        return [*found, listed(Double.apply(x))]


@pytest.mark.parametrize(
    "case", [under_no_grad, no_grad_within, products, level_after_level, functions]
)
def test_tangents(case, reference):
    assert case(rushlight) == ask(case)


def test_linearize():
    """torch's own warns."""

    def f(x):
        with rushlight.no_grad():
            y = x * 2
        return y + x * x

    x, t = rushlight.tensor([1.0, 2.0]), rushlight.tensor([1.0, 0.5])
    assert rushlight.func.linearize(f, x)[1](t).tolist() == [4.0, 3.0]


def test_operations_of_the_library_need_no_jvp():
    x = rushlight.tensor([[2.0, 0.0], [1.0, 2.0]])
    for f in (rushlight.cholesky_inverse, lambda x: rushlight.cholesky_solve(x, x)):
        assert rushlight.func.jvp(f, (x,), (x,))[1].shape == x.shape
