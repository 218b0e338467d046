"""What torch.func refuses: arguments to differentiate by, values, trees and complex numbers."""

import pytest

import rushlight
from tests.conftest import ask


def said(calls):
    found = []
    for call in calls:
        try:
            call()
            found.append("")
        except (RuntimeError, ValueError, TypeError) as error:
            found.append(f"{type(error).__name__}: {str(error).splitlines()[0]}")
    return found


def argnums(torch):
    x, func = torch.tensor([1.0, 2.0]), torch.func
    wrong = [0.0, (0.0,), (1, 0.0), (), (0, 0), (0, -2), 2, -3, (0, 2), [0], "a", -1, (-1,), (1, 0)]

    def call(make, n):
        return lambda: make(lambda x, y: (x * y).sum(), argnums=n)(x, x)

    kinds = (func.grad, func.grad_and_value, func.jacrev, func.jacfwd, func.hessian)
    return [said([call(make, n) for n in wrong]) for make in kinds]


def giving(call, value):
    return lambda: call(lambda x: value)


def values(torch):
    x, func = torch.tensor([1.0, 2.0]), torch.func
    given = [None, (), [], {}, 1, True, "abc", (x, 2), torch.tensor(1)]
    calls = [
        lambda f: func.jacrev(f)(x),
        lambda f: func.vjp(f, x),
        lambda f: func.grad(f)(x),
        lambda f: func.jvp(f, (x,), (x,)),
    ]
    of_forward = said([giving(lambda f: func.jacfwd(f)(x), v) for v in given[:-1]])
    return [of_forward, *(said([giving(call, v) for v in given]) for call in calls)]


def aux(torch):
    x, func = torch.tensor([1.0, 2.0]), torch.func
    given = [x, (x,), (x, x, x), [x, x], None]
    calls = [
        lambda f: func.grad(f, has_aux=True)(x),
        lambda f: func.jacrev(f, has_aux=True)(x),
        lambda f: func.jacfwd(f, has_aux=True)(x),
        lambda f: func.vjp(f, x, has_aux=True),
        lambda f: func.jvp(f, (x,), (x,), has_aux=True),
    ]
    return [said([giving(call, v) for v in given]) for call in calls]


def tangents(torch):
    x, jvp = torch.tensor([1.0, 2.0]), torch.func.jvp
    whole = torch.tensor([1, 2])

    def f(*x):
        return x[0] * 2

    return said(
        [
            lambda: jvp(f, (), ()),
            lambda: jvp(f, [x], (x,)),
            lambda: jvp(f, (x,), (1,)),
            lambda: jvp(f, (1,), (x,)),
            lambda: jvp(f, (x,), (torch.tensor(2.0),)),
            lambda: jvp(f, (x,), (whole,)),
            lambda: jvp(f, (whole,), (whole,)),
            lambda: jvp(f, (x,), (x,)),
        ]
    )


def cotangents(torch):
    x = torch.tensor([1.0, 2.0])
    pull = torch.func.vjp(lambda x: (x * 2, x * 3), x)[1]
    nested = torch.func.vjp(lambda x: {"a": [x * 2], "b": x}, x)[1]
    given = [x, (x,), [x, x], (x, x, x), (x, 1), (x, x)]
    return [
        *said([lambda c=c: pull(c) for c in given]),
        *said([lambda: nested({"a": x, "b": x}), lambda: nested({"a": [x], "b": x})]),
    ]


def complex_numbers(torch):
    x, z, func = torch.tensor([1.0, 2.0]), torch.tensor([1 + 1j]), torch.func
    calls = []
    for make in (func.jacrev, func.jacfwd):
        calls += [
            lambda make=make: make(lambda z: z.abs())(z),
            lambda make=make: make(lambda x: x * 1j)(x),
            lambda make=make: make(lambda x, z: x * 1j, argnums=(0, 1))(x, z),
        ]
    return said(calls)


CASES = [argnums, values, aux, tangents, cotangents, complex_numbers]


@pytest.mark.parametrize("case", CASES)
def test_words(case, reference):
    assert case(rushlight) == ask(case)


def test_other_structures():
    """torch's words name its own class of a structure."""
    x = rushlight.ones(2)
    for primals, tangents in (((x,), ()), ((x,), [x]), (([x],), ((x,),))):
        with pytest.raises(RuntimeError, match="to have the same python structure"):
            rushlight.func.jvp(lambda x: x, primals, tangents)


def test_gradients_that_a_transform_cannot_go_through():
    """torch.autograd.functional without create_graph=True gives numbers: no silent zeros."""
    functional = rushlight.autograd.functional
    x = rushlight.tensor([1.0, 2.0])

    def total(create_graph):
        def of(x):
            return functional.jacobian(lambda y: y * y, x, create_graph=create_graph).sum()

        return of

    with pytest.raises(RuntimeError, match=r"perhaps using torch.autograd.functional"):
        rushlight.func.grad(total(False))(x)
    assert rushlight.func.grad(total(True))(x).tolist() == [2.0, 2.0]
    assert functional.jacobian(lambda y: y * y, x).sum() == 6
