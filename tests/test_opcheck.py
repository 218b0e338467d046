"""torch.library.opcheck: what it says of operations that keep their word, and of others."""

import itertools

import pytest

import rushlight
from tests.conftest import ask

NUMBERS = itertools.count()


def operations(torch):
    """An operation of each kind, under names that no other test has."""
    number = next(NUMBERS)

    def made(name, function, mutates=(), fake=None, formula=None):
        path = f"checked{number}::{name}"
        schema = "(Tensor(a!) x) -> ()" if mutates else "(Tensor x) -> Tensor"
        op = torch.library.custom_op(path, function, mutates_args=mutates, schema=schema)
        if fake is not None:
            op.register_fake(fake)
        if formula is not None:
            op.register_autograd(formula)
        return op

    def writes(x):
        x.add_(1)
        return x.clone()

    def declared(x):
        x.add_(1)

    like, identity = torch.empty_like, lambda ctx, g: g
    return {
        "good": made("good", torch.clone, fake=like, formula=identity),
        "no_fake": made("no_fake", torch.clone),
        "writes": made("writes", writes, fake=like),
        "declared": made("declared", declared, ("x",), lambda x: None),
        "alias": made("alias", lambda x: x.view(-1), fake=like),
        "shape": made("shape", torch.clone, fake=lambda x: x.new_empty(1)),
        "dtype": made("dtype", torch.clone, fake=lambda x: x.new_empty(2, dtype=torch.int32)),
        "no_formula": made("no_formula", torch.clone, fake=like),
    }


@pytest.mark.parametrize("requires_grad", [False, True])
def test_what_it_finds(requires_grad):
    def found(torch):
        out = {}
        for name, op in operations(torch).items():
            needs = requires_grad and name not in ("declared", "writes", "alias")
            x = torch.ones(2, requires_grad=needs)
            words = ["ok"]
            try:
                torch.library.opcheck(op, (x,))
            except Exception as error:
                words = [type(error).__name__, str(error)[:50]]
            told = torch.library.opcheck(op, (x,), raise_exception=False)
            out[name] = [words, {k: v == "SUCCESS" for k, v in told.items()}]
        return out

    assert found(rushlight) == ask(found)


def test_arguments_are_as_they_were_and_tests_are_chosen():
    ops = operations(rushlight)
    x = rushlight.ones(2)
    told = rushlight.library.opcheck(ops["declared"], (x,), test_utils=["test_schema"])
    assert told == {"test_schema": "SUCCESS"} and x.tolist() == [1, 1]
    overload = ops["good"]._opoverload
    assert len(rushlight.library.opcheck(overload, (x,))) == 4
    assert len(rushlight.library.opcheck(overload.overloadpacket, (x,))) == 4
    with pytest.raises(RuntimeError, match="expected tests among test_schema"):
        rushlight.library.opcheck(overload, (x,), test_utils="test_all")
    with pytest.raises(RuntimeError, match=r"none of torch\.library's"):
        rushlight.library.opcheck(rushlight.sin, (x,))
