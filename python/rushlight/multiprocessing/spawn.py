"""spawn: one function in several processes, whose first failure ends them all and is raised."""

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from multiprocessing import connection

from rushlight import _C


class ProcessException(Exception):
    """A process that failed: its index and its pid."""

    def __init__(self, msg: str, error_index: int, pid: int):
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process ended by an exception; the message holds its traceback."""


class ProcessExitedException(ProcessException):
    """A process ended by a signal or with an exit code."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self):
        values = self.msg, self.error_index, self.pid, self.exit_code, self.signal_name
        return type(self), values


def _file_without_name():
    """The path by which our children reach a file that is gone when we are."""
    return f"/proc/{os.getpid()}/fd/{os.memfd_create('error')}"


def _run(function, index, args, error_path, parent):
    if parent is not None:  # no process outlives a killed parent
        _C._distributed._end_with_parent()
        if os.getppid() != parent:
            os._exit(1)
    try:
        function(index, *args)
    except KeyboardInterrupt:
        pass  # the parent has it too
    except Exception:
        with open(error_path, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


class ProcessContext:
    """Processes that have been started; join() waits for them."""

    def __init__(self, processes, error_files):
        self.processes, self.error_files = processes, error_files
        self.sentinels = {p.sentinel: i for i, p in enumerate(processes)}

    def pids(self):
        """The ids of the processes."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout=None, grace_period=None):
        """Waits until one has ended; True when all have.

        Args:
            timeout: seconds to wait.
            grace_period: seconds that the others have to end by themselves after a failure.

        Raises:
            ProcessRaisedException: one raised; all others were ended.
            ProcessExitedException: one was killed or exited.
        """
        if not self.sentinels:
            return True
        failed = None
        for sentinel in connection.wait(list(self.sentinels), timeout=timeout):
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                failed = index
                break
        if failed is None:
            return not self.sentinels
        self._end_others(grace_period)
        raise self._error(failed)

    def _end_others(self, grace_period):
        until = time.monotonic() + (grace_period or 0)
        for process in self.processes:
            process.join(max(0, until - time.monotonic()))
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        until = time.monotonic() + 30
        for process in self.processes:
            process.join(max(0, until - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()

    def _error(self, index):
        process, path = self.processes[index], self.error_files[index]
        if os.path.getsize(path):
            with open(path, "rb") as file:
                text = pickle.load(file)  # our own process has written it
            return ProcessRaisedException(
                f"\n\n-- Process {index} terminated with the following error:\n{text}",
                index, process.pid,
            )  # fmt: skip
        code = process.exitcode
        if code < 0:
            name = signal.Signals(-code).name
            message = f"process {index} terminated with signal {name}"
            return ProcessExitedException(message, index, process.pid, code, name)
        message = f"process {index} terminated with exit code {code}"
        return ProcessExitedException(message, index, process.pid, code)

    def __del__(self):
        for path in self.error_files:
            pid, descriptor = path.split("/")[2::2]
            if int(pid) == os.getpid():
                os.close(int(descriptor))


SpawnContext = ProcessContext


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """fn(i, *args) in `nprocs` processes that begin by `start_method`.

    Args:
        fn: a function that a new process can import.
        args: what it is given after the number of its process.
        nprocs: how many.
        join: wait for them; otherwise a ProcessContext is returned.
        daemon: they end with this one.
        start_method: "spawn", "fork" or "forkserver".

    Raises:
        ProcessRaisedException: one raised; all others were ended.
        ProcessExitedException: one was killed or exited.
    """
    mp = multiprocessing.get_context(start_method)
    processes, errors = [], []
    # The system watches the thread that starts a process: one that ends early must not end it.
    is_parent = start_method != "forkserver"
    main = threading.current_thread() is threading.main_thread()
    parent = os.getpid() if is_parent and main else None
    for index in range(nprocs):
        path = _file_without_name()
        process = mp.Process(target=_run, args=(fn, index, args, path, parent), daemon=daemon)
        errors.append(path)
        process.start()
        processes.append(process)
    context = ProcessContext(processes, errors)
    if not join:
        return context
    while not context.join():
        pass
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """fn(i, *args) in `nprocs` new processes; see start_processes.

    >>> torch.multiprocessing.spawn(train, args=(model,), nprocs=2)  # doctest: +SKIP
    """
    return start_processes(fn, args, nprocs, join, daemon, start_method)
