"""A smoke run of the sweep: five operations measured, kept, resumed and written down. No time is
asserted."""

import pytest

from tests.benchmarks.sweep.measure import entries
from tests.benchmarks.sweep.operands import LAYOUTS, SIZES
from tests.benchmarks.sweep.results import Results

FIVE = ["add", "softmax", "Linear", "sort of a vector", "SGD step"]


def test_five_operations(peer, tmp_path, capsys):
    from tests.benchmarks.sweep.command import sweep

    kept, page = tmp_path / "sweep.csv.gz", tmp_path / "sweep.md"
    options = [*FIVE, "--dtype", "float32", "--size", "16", "--layout", "contiguous"]
    first = sweep([*options, "--kept", str(kept), "--limit", "7"])
    assert len(first.rows) == 7
    results = sweep([*options, "--kept", str(kept), "--page", str(page)])
    printed = capsys.readouterr().out
    assert "GFLOP/s" in printed and "add with backward, float32, contiguous, 16" in printed
    assert len(results.ratios()) == 9  # a step has no backward
    assert Results(kept).rows.keys() == results.rows.keys()
    assert "| all | 9 |" in page.read_text()
    assert "<svg" in (tmp_path / "sweep.svg").read_text()


def test_the_table_is_wide():
    names = {e.op.name for e in entries()}
    assert len(names) >= 200
    assert {e.layout for e in entries()} == set(LAYOUTS) and {e.size for e in entries()} == set(
        SIZES
    )


def test_unknown_names_are_refused():
    with pytest.raises(SystemExit, match="no operation named frobnicate"):
        list(entries(["frobnicate"]))


def test_everyday_rows(peer, capsys):
    from tests.benchmarks.everyday.command import everyday

    ratios = everyday(["all differences", "LSTM cell", "policy gradient"])
    names = {"all differences", "LSTM cell", "policy gradient"}
    assert names | {"all differences, with backward", "LSTM cell, with backward"} == ratios.keys()
    assert "5 rows, geometric mean" in capsys.readouterr().out


def test_random_shapes(peer, capsys):
    from tests.benchmarks.shapes.command import shapes

    words = ["cosine", "depthwise", "LSTM", "dots"]
    ratios = shapes([*words, "--draws", "1", "--backward"])
    assert all(any(name.startswith(word) for name in ratios) for word in words)
    assert ratios.keys() == shapes([*words, "--draws", "1", "--backward"]).keys()
    assert "4 rows, geometric mean" in capsys.readouterr().out
