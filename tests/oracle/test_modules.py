"""A thin slice of torch's samples of modules and optimizers; `python -m tests.oracle` has all."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")

from tests.oracle import modules, optimizers  # noqa: E402 - only with torch
from tests.oracle.absent import reason  # noqa: E402


def rows(table):
    found = [row for row in table.entries() if reason(table.title(row)) is None]
    return {"argvalues": found, "ids": [table.title(row) for row in found]}


@pytest.mark.parametrize("info", **rows(modules))
def test_module(info):
    report = modules.run(info, limit=2, dtypes=(torch.float32,))
    assert report is not None, f"{info.name} is absent"
    assert not report.failures, report.failures[:3]
    assert report.passed == report.samples > 0


@pytest.mark.parametrize("info", **rows(optimizers))
def test_optimizer(info):
    report = optimizers.run(info)
    assert report is not None, f"{optimizers.title(info)} is absent"
    assert not report.failures, report.failures[:3]
    assert report.passed == report.samples > 0
