"""A process with a limit: what it said, and how it ended."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time

from tests.gpu import ROOT


def run_process(command, limit, environment):
    """(verdict, seconds, output): "ok", "FAILED", "CRASHED: SIGSEGV" or "HANGS"."""
    start = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace") as out:
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **environment}, stdout=out, stderr=out,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):  # if the driver keeps it: go on
                process.wait(5)
        out.seek(0)
        text = out.read()
    seconds = round(time.monotonic() - start, 1)
    if code is None:
        return "HANGS", seconds, text
    if code < 0:
        return f"CRASHED: {signal.Signals(-code).name}", seconds, text
    return ("FAILED" if code else "ok"), seconds, text


def seconds_of_step(otherwise):
    """What is left for this process as a step of tests/gpu/run.sh, which would leave its children
    behind if it had to end it."""
    return float(os.environ.get("RUSHLIGHT_STEP_SECONDS", otherwise + 5.0)) - 5.0
