"""Forward mode: functions that write to their arguments, complex tangents, what is recorded."""

import pytest

import rushlight
from tests.conftest import ask


def all_of_it(x):
    x.mul_(2)
    return x * x


def a_part(x):
    x[1:].mul_(2)
    x.add_(1)
    return x * x


def a_view_kept(x):
    view = x[::2]
    x.copy_(x.clone() * 3)
    return view.sum() * x


@pytest.mark.parametrize("function", [all_of_it, a_part, a_view_kept])
@pytest.mark.parametrize("how", ["jvp", "jacfwd", "dual", "dual view"])
def test_writes(reference, how, function):
    """The argument is written to, as the function says."""

    def answer(torch):
        fw = torch.autograd.forward_ad
        x, t = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 10.0, 100.0])
        if how == "jvp":
            found = torch.func.jvp(function, (x,), (t,))
        elif how == "jacfwd":
            found = [torch.func.jacfwd(function)(x) @ t]
        else:
            with fw.dual_level():
                dual = fw.make_dual(x, t)
                if how == "dual":
                    assert fw.unpack_dual(dual).tangent is t
                    found = [*fw.unpack_dual(function(dual)), *fw.unpack_dual(dual)]
                else:
                    part = dual[:2]
                    part.mul_(3)
                    found = [*fw.unpack_dual(part), *fw.unpack_dual(dual)]
        return [v.tolist() for v in found], x.tolist()

    assert answer(rushlight) == ask(answer)


def test_linearize():
    """torch calls the function twice, so that it writes twice."""
    x, t = rushlight.tensor([1.0, 2.0, 3.0]), rushlight.tensor([1.0, 10.0, 100.0])
    value, push = rushlight.func.linearize(a_part, x.clone())
    wanted = rushlight.func.jvp(a_part, (x,), (t,))
    assert value.tolist() == wanted[0].tolist() and push(t).tolist() == wanted[1].tolist()


def test_reverse_mode_refuses_writes():
    x = rushlight.ones(3)
    for transform in (rushlight.func.jacrev, rushlight.func.hessian):
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
            transform(lambda x: all_of_it(x).sum())(x)
    assert x.tolist() == [1, 1, 1]


def test_complex_duals(reference):
    def answer(torch):
        fw = torch.autograd.forward_ad
        found = []
        with fw.dual_level():
            z = torch.tensor([1 + 2j, -0.5j])
            dual = fw.make_dual(z, torch.tensor([0.5j, 2.0 + 1j]))
            for out in (dual * (2 - 1j), dual.abs(), dual.conj() * dual, dual.real):
                value, tangent = fw.unpack_dual(out)
                tangent = torch.view_as_real(tangent) if tangent.is_complex() else tangent
                found.append([value.sum().item(), *tangent.flatten().tolist()])
            with pytest.raises(ValueError, match=r"point or complex, but got: torch\.int64"):
                fw.make_dual(torch.ones(1, dtype=torch.int64), torch.ones(1))
        return found

    for ours, theirs in zip(answer(rushlight), ask(answer), strict=True):
        assert ours == pytest.approx(theirs)


def test_a_pull_under_no_grad(reference):
    def answer(torch):
        x = torch.tensor(3.0, requires_grad=True)
        out, pull = torch.func.vjp(lambda x: x**2, x)
        with torch.no_grad():
            (g,) = pull(torch.tensor(1.0))
        (again,) = pull(torch.tensor(1.0))
        return out.requires_grad, g.requires_grad, again.requires_grad, g.item()

    assert answer(rushlight) == ask(answer)
