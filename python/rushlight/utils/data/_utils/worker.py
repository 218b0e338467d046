"""What runs in a DataLoader worker: seeds, the loop, and the watch over the parent process.

A worker exits when its socket is closed. It needs no other message for that, so it cannot outlive
its loader: not when the loader is dropped, nor when the parent process is killed.
"""

import os
import random
import signal
import socket
import sys
import threading

import rushlight
from rushlight import _C

from .exception import ExceptionWrapper
from .fetch import IterableFetcher, MapFetcher


class WorkerInfo:
    """The state of a worker; see `get_worker_info`.

    Attributes:
        id: this worker's index, from 0.
        num_workers: how many there are.
        seed: its seed, the loader's base seed plus `id`.
        dataset: its copy of the data set.
    """

    __slots__ = ("dataset", "id", "num_workers", "rng", "seed", "worker_method")

    def __init__(self, id, num_workers, seed, dataset, rng=None, worker_method="multiprocessing"):
        for name, value in zip(
            ("id", "num_workers", "seed", "dataset", "rng", "worker_method"),
            (id, num_workers, seed, dataset, rng, worker_method),
            strict=True,
        ):
            object.__setattr__(self, name, value)

    def __setattr__(self, name, value):
        raise AttributeError(f"cannot assign to field {name!r}\nA WorkerInfo is read only.")

    def __repr__(self):
        return (
            f"WorkerInfo(id={self.id}, num_workers={self.num_workers}, seed={self.seed}, "
            f"dataset={self.dataset!r}, rng={self.rng!r}, worker_method={self.worker_method!r})"
        )


_worker_info = None


def get_worker_info():
    """In a DataLoader worker its WorkerInfo (id, num_workers, seed, dataset); elsewhere None.

    Example:
        >>> print(torch.utils.data.get_worker_info())
        None
    """
    return _worker_info


class StreamEnded:
    """Sent instead of a batch when a worker's IterableDataset has no more."""


class DatasetKind:
    """How a data set is read: by index, or as a stream."""

    Map = 0
    Iterable = 1


class WorkerTask:
    """Everything a worker process is started with."""

    def __init__(self, loader, base_seed, worker_id):
        self.is_iterable = loader._dataset_kind == DatasetKind.Iterable
        self.dataset = loader.dataset
        self.auto_collation = loader._auto_collation
        self.collate_fn = loader.collate_fn
        self.drop_last = loader.drop_last
        self.init_fn = loader.worker_init_fn
        self.num_workers = loader.num_workers
        self.base_seed = base_seed
        self.worker_id = worker_id
        self.parent = os.getpid()
        # The system watches the thread that starts a process: one that ends early must not end it.
        self.is_of_main_thread = threading.current_thread() is threading.main_thread()

    def fetcher(self):
        """A new fetcher; for a stream, one that begins again."""
        kind = IterableFetcher if self.is_iterable else MapFetcher
        return kind(self.dataset, self.auto_collation, self.collate_fn, self.drop_last)


def _generate_state(base_seed, worker_id):
    """Four integers for a worker's numpy.random.seed: NumPy's own SeedSequence of four others."""
    import numpy

    entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return numpy.random.SeedSequence(entropy).generate_state(4).tolist()


def _seed_everything(task):
    seed = task.base_seed + task.worker_id
    random.seed(seed)
    rushlight.manual_seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(_generate_state(task.base_seed, task.worker_id))
    return seed


def _leave_with(parent):
    # A killed parent runs no clean-up, and a worker in the middle of a long sample would not
    # notice; this thread does.
    if hasattr(os, "pidfd_open"):
        try:
            descriptor = os.pidfd_open(parent)
        except ProcessLookupError:
            os._exit(1)
        except OSError:
            descriptor = None
        if descriptor is not None:
            import select

            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            poll.poll()
            os._exit(1)
    import multiprocessing

    ancestor = multiprocessing.parent_process()
    if ancestor is not None:
        ancestor.join()
        os._exit(1)


def worker_main(sock, task):
    """Serve the tasks that come over `sock` until it ends."""
    global _worker_info
    from . import pool
    from .messages import FrameReader, Sender

    pool.forget_inherited()
    # Ctrl-C goes to the whole group; the parent answers it and closes the socket. A handler that
    # does nothing, unlike SIG_IGN, is not inherited by programs that a data set may start.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if task.is_of_main_thread and os.getppid() == task.parent:  # not of a fork server
        _C._distributed._end_with_parent()
    threading.Thread(target=_leave_with, args=(task.parent,), daemon=True).start()
    rushlight.set_num_threads(1)
    seed = _seed_everything(task)
    _worker_info = WorkerInfo(task.worker_id, task.num_workers, seed, task.dataset)
    serve = _Serve(task, Sender(sock))
    reader = FrameReader()
    try:
        while data := sock.recv(1 << 16):
            for payload in reader.feed(data):
                serve.answer(payload)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the loader has gone; so do we
    finally:
        sock.close()


class _Serve:
    """Answers each task with a batch, the end of the stream, or the exception that came."""

    def __init__(self, task, sender):
        self._task = task
        self._sender = sender
        self._where = f"in DataLoader worker process {task.worker_id}"
        self._failure = None
        self._epoch = None
        self._fetcher = None
        try:
            if task.init_fn is not None:
                task.init_fn(task.worker_id)
        except Exception:
            self._failure = ExceptionWrapper(where=self._where)

    def answer(self, payload):
        import pickle

        key, indices, slots = pickle.loads(payload)
        self._sender.release(slots)
        result = self._failure or self._fetch(key[0], indices)
        try:
            self._sender.send(key, result)
        except OSError as error:
            if isinstance(error, BrokenPipeError | ConnectionResetError):
                raise
            self._send_failure(key, result)
        except Exception:
            self._send_failure(key, result)

    def _fetch(self, epoch, indices):
        try:
            if epoch != self._epoch:
                self._fetcher = self._task.fetcher()
                self._epoch = epoch
            if isinstance(indices, bytes):
                indices = rushlight.frombuffer(bytearray(indices), dtype=rushlight.int64)
            return self._fetcher.fetch(indices)
        except StopIteration:
            if self._task.is_iterable:
                return StreamEnded()
            return ExceptionWrapper(where=self._where)
        except Exception:
            return ExceptionWrapper(where=self._where)

    def _send_failure(self, key, result):
        # The batch cannot be pickled, or the exception's own type cannot.
        failure = result
        if not isinstance(failure, ExceptionWrapper):
            failure = ExceptionWrapper(where=self._where)
        try:
            self._sender.send(key, failure)
        except Exception:
            failure.exc_type = RuntimeError
            self._sender.send(key, failure)


def socket_pair():
    """The loader's end and the worker's end of a worker's channel."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
