"""The first look at a GPU (python -m tests.gpu --quick): all its rows are good on the emulator, and
one that fails, crashes or hangs is named. What the steps of tests/gpu/run.sh name is there.
"""

import os
import pathlib
import re
import sys

import pytest

from tests.gpu import ROOT, SHIPPED, quick, report, steps
from tests.gpu import __main__ as command
from tests.gpu.process import run_process

emulated = pytest.mark.emulated
# Then each process starts slowly.
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")


def python(program):
    return [sys.executable, "-c", program]


def test_a_row_that_fails_crashes_or_hangs_is_named(capsys):
    rows = [
        ("ground", python("print('as it should be')"), "a.cu"),
        ("wrong", python("raise AssertionError('3 is not 4\\nat index 5')"), "b.cu"),
        ("crash", python("import os; os.abort()"), "c.cu"),
        ("hang", python("import time; time.sleep(60)"), "d.cu"),
        ("after", python("print('still run')"), "e.cu"),
    ]
    found = {row["row"]: row for row in quick.look(rows, row_seconds=2)}
    assert [row["verdict"] for row in found.values()] == [
        "ok", "FAILED", "CRASHED: SIGABRT", "HANGS", "ok",
    ]  # fmt: skip
    assert found["wrong"]["words"] == "AssertionError: 3 is not 4"
    text = capsys.readouterr().out
    assert "2 of 5 rows are good" in text and "look at b.cu" in text and "at index 5" in text
    assert re.search(r"^after +ok .* still run$", text, re.M)


def test_what_passes_with_blocking_launches_only(capsys):
    program = "import os; assert os.environ['RUSHLIGHT_LAUNCH_BLOCKING'] == '1'"
    quick.look([("async", python(program), "a.cu")])
    assert "something does not wait that must" in capsys.readouterr().out


def test_without_the_ground_nothing_else_is_run():
    rows = [("memory", python("1 / 0"), "a.cu"), ("x + 1", python("pass"), "b.cu")]
    first, second = quick.look(rows)
    assert first["words"].startswith("ZeroDivisionError") and second["verdict"] == "not run"


@emulated
def test_all_rows_are_good_and_name_files(capsys):
    rows = list(quick.table())
    for _, _, where in rows:
        paths = [p if "/" in p else f"kernels/cuda/{p}" for p in where.split(", ")]
        assert [p for p in paths if not (ROOT / p).exists()] == []
    assert len(rows) > 35
    slow = ("training steps of a CNN", "PyTorch in the same process")
    rows = rows[:12] if SANITIZED else [row for row in rows if row[0] not in slow]
    bad = [row for row in quick.look(rows) if row["verdict"] != "ok"]
    assert not bad, capsys.readouterr().out


@emulated
def test_streams_fail_without_record_stream():
    stress = [sys.executable, "-m", "tests.gpu.stress", "--seed", "7", "--rounds", "20"]
    verdict, _, text = run_process([*stress, "--threads", "3"], 60, SHIPPED)
    assert verdict == "ok" and "seed 7, 3 x 20 rounds right" in text
    if SANITIZED:  # a process ends where it reads memory that was given back
        return
    verdict, _, text = run_process([*stress, "--without-record-stream"], 60, SHIPPED)
    assert verdict == "ok" and "caught: without record_stream values are wrong" in text


@emulated
@pytest.mark.skipif(SANITIZED, reason="the host's memory grows")
def test_memory_that_a_step_leaves_is_noticed():
    program = """
import sys
from tests.gpu import memory_growth as growth
kept, step = [], growth.Training.step
if "leaks" in sys.argv:
    def leak(self, number):
        step(self, number)
        kept.append(growth.torch.ones(5, device="cuda"))
    growth.Training.step = leak
sys.argv[1:] = ["50"]
sys.exit(growth.main())
"""
    assert run_process(python(program), 60, SHIPPED)[0] == "ok"
    verdict, _, text = run_process([*python(program), "leaks"], 60, SHIPPED)
    assert verdict == "FAILED" and "blocks: " in text and "allocated: " in text


def test_what_the_steps_name_is_there(tmp_path, monkeypatch):
    monkeypatch.setenv("RUSHLIGHT_CUDA_LIBRARY", "a.so")
    every = list(steps.steps(tmp_path, sys.executable))
    assert len({step.name for step in every}) == len(every) > 15
    for step in every:
        for word in step.command:
            assert not word.startswith("tests/") or (ROOT / word).exists(), f"{step.name}: {word}"
        module = step.command[step.command.index("-m") + 1]
        path = ROOT / module.replace(".", "/")
        found = path.with_suffix(".py").exists() or pathlib.Path(path, "__main__.py").exists()
        assert found or module in ("pytest", "rushlight"), f"{step.name}: {module}"


def test_the_rest_is_what_is_not_yet_good(tmp_path, monkeypatch, capsys):
    every = [
        steps.Step("good", python("print('a table of it')"), {}, 9, True),
        steps.Step("bad", python("raise SystemExit(3)"), {}, 9),
        steps.Step("slow", python("import time; time.sleep(60)"), {}, 1),
    ]
    monkeypatch.setattr(command, "steps", lambda *_: every)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["tests.gpu", str(tmp_path), *words])
        failed = command.main()
        return failed, [line.split()[:2] for line in capsys.readouterr().out.splitlines()]

    assert run() == (True, [["good", "ok"], ["bad", "FAILED"], ["slow", "FAILED"]])
    assert run("--rest", "bad", "good") == (True, [["bad", "FAILED"]])
    assert run("--seconds", "4", "good", "bad") == (True, [["good", "not"], ["bad", "not"]])
    assert [row["code"] for row in report.read(tmp_path / "report.json", {})["steps"]] == [
        None, None, 124,
    ]  # fmt: skip
    run("good")
    text = (tmp_path / "report.md").read_text()
    assert "| good | ok |" in text and "## good\n\n```\na table of it\n```" in text
