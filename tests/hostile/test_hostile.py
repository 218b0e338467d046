"""The hostile calls in processes of their own: a signal, a hang or a SystemError is a failure."""

import os
import signal
import subprocess
import sys

import pytest

SHARDS = 4
STRIDE = "53"  # of the generated calls; RUSHLIGHT_HOSTILE_STRIDE=1 makes them all


@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_call_ends_the_process(shard, tmp_path):
    log = tmp_path / "call"
    environment = {"RUSHLIGHT_HOSTILE_STRIDE": STRIDE, **os.environ, "OMP_NUM_THREADS": "1"}
    environment["RUSHLIGHT_HOSTILE_LOG"] = str(log)
    process = subprocess.run(
        [sys.executable, "-m", "tests.hostile.batch", str(shard), str(SHARDS)],
        env=environment,
        capture_output=True,
        timeout=540,
        check=False,
        text=True,
    )
    last = log.read_text() if log.exists() else "nothing yet"
    if process.returncode < 0:
        pytest.fail(f"{signal.Signals(-process.returncode).name} in: {last}")
    assert "SYSTEMERROR" not in process.stdout, process.stdout
    assert process.returncode == 0, f"ended in: {last}\n{process.stderr[-2000:]}"
    assert process.stdout.split()[-2] == "ok", process.stdout
