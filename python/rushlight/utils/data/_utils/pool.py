"""The loader's side of its workers: starts them, feeds them, notices a death, ends them.

One poll() waits for batches, for room to write and for the end of any worker, so a worker that is
killed is an error at once; there is no shared lock that a dying worker could keep.
"""

import multiprocessing
import multiprocessing.connection  # join() needs it, where a finalizer may run within its import
import os
import pickle
import select
import signal
import socket
import time
import warnings
import weakref
from collections import deque
from contextlib import suppress

from .messages import Receiver, frame
from .worker import WorkerTask, socket_pair, worker_main

kGraceSeconds = 3.0  # how long a worker may take to finish its sample before it is ended
kCheckSeconds = 2.0  # how often a wait looks whether the workers live, beside their sentinels

_live = weakref.WeakSet()  # every worker of every loader in this process


def forget_inherited():
    """In a forked worker: close what it inherited of all loaders, or their ends never come."""
    for worker in list(_live):
        worker.close()


class _Worker:
    """One process, its socket and what is still to be written to it."""

    def __init__(self, context, task):
        self.id = task.worker_id
        self.receiver = Receiver()
        self.outbox = bytearray()
        self.socket, theirs = socket_pair()
        _live.add(self)  # before the fork: the child must close its copy of our end
        try:
            self.process = context.Process(target=worker_main, args=(theirs, task), daemon=True)
            with warnings.catch_warnings():
                # Python 3.12 warns of a fork beside threads; ours are held still during it.
                warnings.simplefilter("ignore", DeprecationWarning)
                self.process.start()
        except BaseException:
            self.socket.close()
            raise
        finally:
            theirs.close()
        self.socket.setblocking(False)

    def flush(self):
        """Write what the socket takes without waiting: a worker may be waiting for us to read."""
        while self.outbox:
            try:
                sent = self.socket.send(self.outbox)
            except BlockingIOError:
                return
            except (BrokenPipeError, ConnectionResetError):
                self.outbox.clear()  # its end is reported by poll()
                return
            del self.outbox[:sent]

    def close(self):
        """Close this process's copies; ends nothing while another process holds one."""
        self.socket.close()
        self.receiver.close()


class WorkerPool:
    """The worker processes of one iterator.

    Args:
        loader: the DataLoader.
        base_seed: worker `i` is seeded with `base_seed + i`.
    """

    def __init__(self, loader, base_seed):
        context = loader.multiprocessing_context or multiprocessing.get_context()
        self._owner = os.getpid()
        self._workers = []
        self._arrived = deque()
        self._poll = select.poll()
        self._by_descriptor = {}
        try:
            for worker_id in range(loader.num_workers):
                worker = _Worker(context, WorkerTask(loader, base_seed, worker_id))
                self._workers.append(worker)
                self._by_descriptor[worker.socket.fileno()] = worker
                self._by_descriptor[worker.process.sentinel] = worker
                self._poll.register(worker.socket, select.POLLIN)
                self._poll.register(worker.process.sentinel, select.POLLIN)
        except BaseException:
            self.shutdown(0.0)
            raise

    @property
    def processes(self):
        """The workers' process objects."""
        return [worker.process for worker in self._workers]

    def put(self, worker_id, key, indices):
        """Give a worker the task `key`."""
        worker = self._workers[worker_id]
        slots, worker.receiver.read_slots = worker.receiver.read_slots, []
        worker.outbox += frame(pickle.dumps((key, indices, slots), 5))
        worker.flush()
        self._watch(worker)

    def _watch(self, worker):
        wanted = select.POLLIN | (select.POLLOUT if worker.outbox else 0)
        self._poll.modify(worker.socket, wanted)

    def get(self, timeout=0):
        """The next (key, chunks) that any worker sends; `messages.decode` makes the object.

        Raises:
            RuntimeError: a worker ended, or nothing came for `timeout` seconds (0: no limit).
        """
        deadline = time.monotonic() + timeout if timeout > 0 else None
        if os.getpid() != self._owner:
            raise RuntimeError(
                f"this DataLoader iterator is of the process {self._owner}, which has its workers\n"
                f"make one in this process ({os.getpid()}): iter(loader)"
            )
        while not self._arrived:
            wait = kCheckSeconds
            if deadline is not None:
                wait = min(wait, max(0.0, deadline - time.monotonic()))
            events = self._poll.poll(wait * 1000)
            ended = [self._handle(descriptor) for descriptor, _ in events]
            if not events:
                # A process that was forked at a bad moment may hold a dead worker's end open.
                ended = [worker for worker in self._workers if not worker.process.is_alive()]
            dead = next((worker for worker in ended if worker is not None), None)
            if dead is not None and not self._arrived:
                raise RuntimeError(self._death_message(dead))
            if deadline is not None and not self._arrived and time.monotonic() >= deadline:
                raise RuntimeError(
                    f"DataLoader timed out after {timeout} seconds\n"
                    "No batch came in that time: raise timeout=, or look for what blocks the data "
                    "set with num_workers=0."
                )
        return self._arrived.popleft()

    def _handle(self, descriptor):
        """Read and write what can be; the worker, if it has ended and all it sent is read."""
        worker = self._by_descriptor[descriptor]
        worker.flush()
        self._watch(worker)
        while True:
            try:
                messages = worker.receiver.receive(worker.socket)
            except BlockingIOError:
                break
            except ConnectionResetError:
                messages = None
            if messages is None:
                worker.process.join(1.0)
                return worker
            self._arrived += messages
            if messages:
                return None
        return None if worker.process.is_alive() else worker

    def _death_message(self, worker):
        pid, code = worker.process.pid, worker.process.exitcode
        if code is None:
            how = "closed its connection"
        elif code < 0:
            how = f"was killed by signal {-code} ({signal.strsignal(-code)})"
        else:
            how = f"ended with exit code {code}"
        text = (
            f"DataLoader worker (pid(s) {pid}) exited unexpectedly\n"
            f"Worker {worker.id} of {len(self._workers)}, pid {pid}, {how}."
        )
        if code == -signal.SIGKILL:
            text += " The system kills a process like this when memory runs out."
        return text + " num_workers=0 runs the data set in this process and shows its own error."

    def shutdown(self, grace=kGraceSeconds):
        """End the workers: they leave by themselves when their sockets end, else they are made to.

        Args:
            grace: seconds that a worker may take to finish what it is doing.
        """
        if os.getpid() != self._owner or not self._workers:
            return
        workers, self._workers = self._workers, []
        for worker in workers:
            with suppress(OSError):
                worker.socket.shutdown(socket.SHUT_RDWR)  # reaches it past any other copy
            worker.close()
        deadline = time.monotonic() + grace
        for worker in workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
        for end in ("terminate", "kill"):
            late = [worker.process for worker in workers if worker.process.is_alive()]
            for process in late:
                getattr(process, end)()
            for process in late:
                process.join(1.0)
