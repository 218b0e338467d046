"""The agent of one host: starts its processes, watches them, starts all again after a failure.

Hosts agree through the store of the first one: which host has which index, which attempt it is, and
that all have ended. The processes use the same store, so that it outlives their rank 0.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from datetime import timedelta

from rushlight import _C

from .folder import folder_of_this_process
from .options import Job
from .processes import Processes
from .report import Failure, report

_MEETING = timedelta(minutes=10)


class Failed(Exception):
    """The job failed; its words are the report."""


class Stopped(Exception):
    """The launcher received a signal to end."""

    def __init__(self, number):
        super().__init__(f"the launcher received {signal.Signals(number).name}")
        self.number = number


def _is_here(host):
    """Whether an address is one of this machine: only there a socket can be bound to it."""
    try:
        with socket.socket() as probe:
            probe.bind((socket.gethostbyname(host), 0))
        return True
    except OSError:
        return False


class Agent:
    """Runs one job on this host."""

    def __init__(self, job: Job):
        self.job, self.serves = job, False
        self.store, self.port = self._meet()
        self.prefix = f"rushlight/launch/{job.run_id}/"
        node = self.store.add(self.prefix + "hosts", 1) - 1 if job.node is None else job.node
        self.node: int = node
        if self.node >= job.nodes:
            raise ValueError(
                f"{job.nodes} hosts have come before this one: --nnodes is {job.nodes}"
            )

    def _meet(self):
        job = self.job
        make = _C._distributed.TCPStore
        if job.node == 0 or (job.node is None and _is_here(job.host)):
            try:
                store = make(job.host, job.port, None, True, _MEETING, False)
                self.serves = True
                return store, store.port
            except RuntimeError:
                if job.node == 0:
                    raise
        return make(job.host, job.port, None, False, _MEETING, False), job.port

    def _key(self, word, attempt):
        return f"{self.prefix}{word}/{attempt}"

    def _all_ended(self, attempt, said):
        """Whether the processes of every host have ended well; this host says so once."""
        return self.store.add(self._key("ended", attempt), int(not said)) >= self.job.nodes

    def _attempt(self, attempt, folder) -> list[Failure] | None:
        """The failures of one attempt (none of this host, perhaps), or None for success."""
        own, said = os.path.join(folder, f"attempt_{attempt}"), False
        first = self.node * self.job.processes
        processes = Processes(self.job, first, self.node, attempt, own, self.port)
        try:
            while True:
                found = processes.look()
                if found is True:
                    if self._all_ended(attempt, said):
                        return None
                    said = True
                elif found:
                    self.store.set(self._key("failed", attempt), "1")
                    processes.stop()
                    processes.look()
                    return processes.failures()
                if self.job.nodes > 1 and self.store.check([self._key("failed", attempt)]):
                    return []
                time.sleep(self.job.interval)
        finally:
            processes.stop()

    def run(self):
        """Raises Failed, with the report, where the last attempt failed."""
        with contextlib.ExitStack() as stack:
            folder = self.job.log_dir
            if folder:
                folder = os.path.join(folder, self.job.run_id)
                os.makedirs(folder, exist_ok=True)
            else:
                folder = stack.enter_context(folder_of_this_process())
            for attempt in range(self.job.max_restarts + 1):
                failures = self._attempt(attempt, folder)
                if failures is None:
                    break
            else:
                name = self.job.command[0]
                text = report(name, failures) if failures else f"{name} FAILED on another host"
                self._leave()
                raise Failed(text)
        self._leave()

    def _leave(self):
        """The host that serves the store goes last."""
        if self.job.nodes == 1:
            return
        left = self.store.add(self.prefix + "left", 1)
        until = time.monotonic() + 30
        while self.serves and left < self.job.nodes and time.monotonic() < until:
            time.sleep(0.05)
            left = self.store.add(self.prefix + "left", 0)


def launch(job: Job) -> None:
    """Runs a job on this host; SIGTERM and SIGINT end its processes first.

    Args:
        job: of options.read_job().

    Raises:
        Failed: a process failed, and no attempt was left.
        Stopped: a signal came.
    """

    def stop(number, frame):
        raise Stopped(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        Agent(job).run()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
