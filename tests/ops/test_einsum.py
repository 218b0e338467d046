"""einsum against torch: forms of equations, twice each, as the second call takes the plan of the
first; then the words of its refusals."""

import pytest

import rushlight
from tests.conftest import ask

EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("bij,bjk->bik", (2, 2, 3), (2, 3, 4)),
    ("ii->i", (3, 3)),
    ("ij->ji", (2, 3)),
    ("ij", (2, 3)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    ("i,j->ij", (2,), (3,)),
    ("i,i->", (3,), (3,)),
    ("ij,ij->ij", (2, 3), (2, 3)),
    ("bhld,bhmd->bhlm", (2, 2, 3, 4), (2, 2, 5, 4)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    ("ij,kj->ik", (2, 1), (3, 4)),
    ("iij,jk->ik", (2, 2, 3), (3, 4)),
    ("ij->", (2, 3)),
    (",->", (), ()),
    ("ij,jk->ik", (0, 3), (3, 4)),
]


@pytest.mark.parametrize("equation, shapes", [(e, s) for e, *s in EQUATIONS])
def test_values_and_gradients(equation, shapes, on_device):
    def results(t):
        found = []
        for start in (1, 2):
            operands = []
            for shape in shapes:
                n = t.zeros(shape).numel()
                x = t.arange(start, n + start, dtype=t.float64).reshape(shape)
                operands.append(x.requires_grad_())
            out = t.einsum(equation, *operands)
            out.sin().sum().backward()
            found.append([out.tolist(), *(x.grad.tolist() for x in operands)])
        return found

    ours, theirs = results(rushlight), ask(results)
    flat = [rushlight.tensor(value) for pass_ in ours for value in pass_]
    expected = [rushlight.tensor(value) for pass_ in theirs for value in pass_]
    for a, b in zip(flat, expected, strict=True):
        assert a.shape == b.shape and rushlight.allclose(a, b, 1e-9, 1e-9)


def test_an_unchanged_operand_is_a_view(on_device):
    x = rushlight.zeros(2, 3)
    rushlight.einsum("ij->ij", x).fill_(1)
    assert x.sum() == 6


@pytest.mark.parametrize(
    "equation, shapes",
    [
        ("ij,jk->ik", [(2, 3)]),
        ("ij->x", [(2, 3)]),
        ("ii", [(2, 3)]),
        ("ij,jk->ik", [(2, 3), (4, 5)]),
        ("i1->i", [(2, 3)]),
        ("ijk->i", [(2, 3)]),
    ],
)
def test_refusals(equation, shapes, on_device):
    def refusal(t):
        try:
            t.einsum(equation, *(t.zeros(shape) for shape in shapes))
        except RuntimeError as error:
            return str(error).split("\n")[0]

    assert refusal(rushlight) == ask(refusal)


def test_what_is_multiplied_alone_promotes(on_device):
    def found(t):
        i, f = t.tensor([1, 2]), t.tensor([0.5, 3.0])
        made = [t.einsum(e, i, f) for e in ("i,j->ij", "i,i->i")]
        made.append(t.einsum("i,i->i", i > 1, i > 0))
        made.append(t.einsum("i,j->ji", f.requires_grad_(), f))
        return [(str(x.dtype)[-7:], x.tolist()) for x in made]

    assert found(rushlight) == ask(found)
