"""What became of a job's processes, in torchrun's form, with the traceback that torchrun lacks."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from dataclasses import dataclass

_LINES = 20  # of a traceback


@dataclass
class Failure:
    """One process that failed."""

    rank: int
    local_rank: int
    pid: int
    code: int
    error_file: str
    time: float

    def message(self) -> str:
        """The traceback, or the signal, or what is known."""
        if self.code < 0:
            return f"Signal {-self.code} ({_signal_name(-self.code)}) received by PID {self.pid}"
        try:
            with open(self.error_file) as file:
                told = json.load(file)["message"]
            if isinstance(told, str):
                return told
            return told["extraInfo"].get("py_callstack") or told["message"]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return "the process ended with this exit code and no exception"

    def text(self, index: int) -> str:
        """Its lines in the report."""
        when = time.strftime("%Y-%m-%d_%H:%M:%S", time.localtime(self.time))
        name = f" ({_signal_name(-self.code)})" if self.code < 0 else ""
        file = self.error_file if os.path.exists(self.error_file) else "<N/A>"
        lines = self.message().rstrip().splitlines()
        if len(lines) > _LINES:
            lines = ["...", *lines[-_LINES:]]
        return (
            f"[{index}]:\n"
            f"  time      : {when}\n"
            f"  host      : {socket.gethostname()}\n"
            f"  rank      : {self.rank} (local_rank: {self.local_rank})\n"
            f"  exitcode  : {self.code}{name} (pid: {self.pid})\n"
            f"  error_file: {file}\n"
            "  traceback : " + "\n    ".join(lines)
        )


def _signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown signal"


def report(program: str, failures: list[Failure]) -> str:
    """The report of a job that failed; the first failure is the cause, the others follow from it.

    Args:
        program: what was run.
        failures: at least one.
    """
    ordered = sorted(failures, key=lambda each: each.time)
    others = [each.text(i + 1) for i, each in enumerate(ordered[1:])] or ["  <NO_OTHER_FAILURES>"]
    wide, thin = "=" * 60, "-" * 60
    return "\n".join([
        wide, f"{program} FAILED", thin, "Failures:", *others, thin,
        "Root Cause (first observed failure):", ordered[0].text(0), wide,
    ])  # fmt: skip
