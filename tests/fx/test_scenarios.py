"""Graphs, modules, interpreters and rewriting: the same answers as torch's."""

import pytest

import rushlight
from tests.conftest import ask
from tests.fx import lessons, passes, scenarios, structures, texts
from tests.fx.test_trace import close, plain_lists


@pytest.mark.parametrize(
    "scenario",
    scenarios.ALL + passes.ALL + texts.ALL + lessons.ALL + structures.ALL,
    ids=lambda s: s.__name__,
)
def test_scenario(scenario):
    theirs = ask(lambda torch: scenario(torch))
    for mine, judge in zip(scenario(rushlight), theirs, strict=True):
        assert plain_lists(mine) == plain_lists(judge, number=close)
