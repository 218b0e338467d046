"""symbolic_trace: the same code, graphs, nodes and values as torch's, for small programs."""

import pytest

import rushlight
from tests.conftest import ask
from tests.fx import function_programs, programs


def compare(program):
    ours, theirs = (
        programs.described(rushlight, program),
        ask(lambda torch: programs.described(torch, program)),
    )
    for mine, judge in zip(ours, theirs, strict=True):
        assert plain_lists(mine) == plain_lists(judge, number=close)


def plain_lists(value, number=float):
    """Recorded answers have lists where there were tuples."""
    if isinstance(value, (list, tuple)):
        return [plain_lists(each, number) for each in value]
    if isinstance(value, dict):
        return {k: plain_lists(v, number) for k, v in value.items()}
    return number(value) if isinstance(value, float) else value


def close(value):
    """Of four digits, the last may be rounded either way."""
    return pytest.approx(value, rel=1e-3, nan_ok=True)


@pytest.mark.parametrize(
    "program", programs.WITHOUT_FUNCTIONS + function_programs.ALL, ids=lambda p: p.__name__
)
def test_program(program):
    compare(program)
