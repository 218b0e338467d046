"""The processes of one attempt: their environment, where their output goes, and their end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

from .report import Failure

_STREAMS = {1: ("stdout",), 2: ("stderr",), 3: ("stdout", "stderr")}


class Processes:
    """All processes of this host, started together."""

    def __init__(self, job, first_rank, node, attempt, folder, port):
        self.job, self.first, self.folder = job, first_rank, folder
        self.threads: list[threading.Thread] = []
        self.files: list = []
        self.started: list[subprocess.Popen] = []
        self.ended: dict[int, float] = {}
        try:
            for local in range(job.processes):
                environment = self._environment(local, node, attempt, port)
                self.started.append(self._start(local, environment))
        except OSError as error:
            self.stop()
            raise RuntimeError(f"{job.command[0]} cannot be started: {error}") from None

    def _environment(self, local, node, attempt, port):
        job, rank = self.job, self.first + local
        world = job.processes * job.nodes
        own = {
            "RANK": rank, "LOCAL_RANK": local, "WORLD_SIZE": world,
            "LOCAL_WORLD_SIZE": job.processes, "GROUP_RANK": node, "GROUP_WORLD_SIZE": job.nodes,
            "ROLE_RANK": rank, "ROLE_WORLD_SIZE": world, "ROLE_NAME": job.role,
            "MASTER_ADDR": job.host, "MASTER_PORT": port,
            "TORCHELASTIC_RESTART_COUNT": attempt, "TORCHELASTIC_MAX_RESTARTS": job.max_restarts,
            "TORCHELASTIC_RUN_ID": job.run_id, "TORCHELASTIC_USE_AGENT_STORE": True,
            "TORCHELASTIC_ERROR_FILE": self._error_file(local),
        }  # fmt: skip
        found = {**os.environ, **job.environment, **{name: str(v) for name, v in own.items()}}
        if job.processes > 1:
            found.setdefault("OMP_NUM_THREADS", "1")
        return found

    def _folder(self, local):
        path = os.path.join(self.folder, str(local))
        os.makedirs(path, exist_ok=True)
        return path

    def _error_file(self, local):
        return os.path.join(self._folder(local), "error.json")

    def _start(self, local, environment):
        job = self.job
        worker = [sys.executable, "-m", "rushlight.distributed._launch.worker"]
        streams = {}
        for name in ("stdout", "stderr"):
            streams[name] = self._stream(name, local)
        started = subprocess.Popen(
            [*worker, job.mode, str(int(job.aliased)), *job.command], env=environment,
            start_new_session=True, **streams,
        )  # fmt: skip
        for name in ("stdout", "stderr"):
            if streams[name] == subprocess.PIPE:
                self._copy(name, local, getattr(started, name))
        return started

    def _stream(self, name, local):
        """A file, a pipe that a thread reads, or nothing: the console."""
        job = self.job
        if name in _STREAMS.get(job.tee.get(local, 0), ()):
            return subprocess.PIPE
        if name in _STREAMS.get(job.redirects.get(local, 0), ()):
            return self._log(name, local)
        if job.shown is not None and local not in job.shown:
            return subprocess.DEVNULL
        return None

    def _log(self, name, local):
        path = os.path.join(self._folder(local), name + ".log")
        file = open(path, "wb", buffering=0)  # noqa: SIM115 - closed by stop()
        self.files.append(file)
        return file

    def _copy(self, name, local, source):
        file, mark = self._log(name, local), f"[{self.job.role}{local}]:".encode()
        shows = self.job.shown is None or local in self.job.shown
        console = getattr(sys, name)

        def copy():
            for line in source:
                file.write(line)
                if shows:
                    console.write((mark + line).decode(errors="replace"))
                    console.flush()

        thread = threading.Thread(target=copy, daemon=True)
        thread.start()
        self.threads.append(thread)

    def look(self):
        """True when all have ended well, False while some run; or their failures."""
        for local, each in enumerate(self.started):
            if local not in self.ended and _has_ended(each):
                path = self._error_file(local)  # written when it failed, before we looked
                self.ended[local] = os.path.getmtime(path) if os.path.exists(path) else time.time()
        if any(self.started[local].returncode for local in self.ended):
            return self.failures()
        return len(self.ended) == len(self.started)

    def failures(self) -> list[Failure]:
        """Of those that have ended badly."""
        return [
            Failure(self.first + local, local, each.pid, each.returncode,
                    self._error_file(local), self.ended[local])
            for local, each in enumerate(self.started)
            if local in self.ended and each.returncode
        ]  # fmt: skip

    def stop(self, number=signal.SIGTERM):
        """Ends all that run: a signal, then SIGKILL after the job's patience."""
        running = [each for each in self.started if not _has_ended(each)]
        for each in running:
            _signal(each, number)
        until = time.monotonic() + self.job.patience
        while not all(map(_has_ended, running)) and time.monotonic() < until:
            time.sleep(0.02)
        for each in running:
            if not _has_ended(each):
                _signal(each, signal.SIGKILL)
                each.wait()
        for thread in self.threads:
            thread.join(1.0)
        for file in self.files:
            file.close()


def _signal(process, number):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _has_ended(process):
    """Whether a process has ended; what it left running in its session is killed before its id,
    which is the session's, can be another's."""
    if process.returncode is None:
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return False
        _signal(process, signal.SIGKILL)
        process.wait()
    return True
