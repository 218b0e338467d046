"""The DataLoader's two iterators: one reads in this process, one over workers.

The order of draws is torch's and programs depend on it: the base seed when an iterator is made,
the sampler's own draws at its first index.
"""

import itertools
import warnings
import weakref

import rushlight

from ..dataset import can_gather
from ..sampler import BatchSampler, draw_seed
from .collate import default_collate
from .exception import ExceptionWrapper
from .fetch import IterableFetcher, MapFetcher
from .pin_memory import pin_memory
from .worker import DatasetKind, StreamEnded


class _BaseDataLoaderIter:
    """What both iterators share: the indices, the base seed, pinning and the length warning."""

    def __init__(self, loader):
        self._loader_kind = loader._dataset_kind
        self._dataset = loader.dataset
        self._num_workers = loader.num_workers
        self._index_sampler = loader._index_sampler
        self._gathers = (
            loader._dataset_kind == DatasetKind.Map
            and loader.collate_fn is default_collate
            and can_gather(loader.dataset)
        )
        self._pin_memory = loader.pin_memory and rushlight.cuda.is_available()
        if loader.pin_memory and not self._pin_memory:
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device "
                "pinned memory won't be used.",
                stacklevel=4,
            )
        self._begin(loader)
        self._base_seed = draw_seed(loader.generator)

    def _begin(self, loader):
        self._indices = None
        if self._gathers and isinstance(self._index_sampler, BatchSampler):
            self._indices = self._index_sampler.index_tensors()
        if self._indices is None:
            self._indices = iter(self._index_sampler)
        self._reported_length = getattr(loader, "_reported_length", None)
        self._yielded = 0

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._index_sampler)

    def __next__(self):
        data = self._next_data()
        if self._pin_memory:
            data = pin_memory(data)
        self._yielded += 1
        if self._reported_length is not None and self._yielded > self._reported_length:
            self._warn_of_length()
        return data

    def _warn_of_length(self):
        text = (
            f"Length of IterableDataset {self._dataset} was reported to be {self._reported_length}"
            f"(when accessing len(dataloader)), but {self._yielded} samples have been fetched. "
        )
        if self._num_workers > 0:
            text += (
                "For multiprocessing data-loading, this happens where each worker reads the whole "
                "stream: let it take its share by get_worker_info()."
            )
        warnings.warn(text, stacklevel=3)

    def __getstate__(self):
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader):
        super().__init__(loader)
        if loader.timeout != 0:
            raise AssertionError(
                "_SingleProcessDataLoaderIter requires timeout == 0\n"
                "timeout= is for worker processes: give num_workers too, or leave it out."
            )
        kind = IterableFetcher if self._loader_kind == DatasetKind.Iterable else MapFetcher
        self._fetcher = kind(
            loader.dataset, loader._auto_collation, loader.collate_fn, loader.drop_last
        )

    def _next_data(self):
        return self._fetcher.fetch(next(self._indices))


def _decode(chunks):
    from .messages import decode

    try:
        return decode(chunks)
    except Exception:
        return ExceptionWrapper(where="while reading what a DataLoader worker sent")


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Batches from workers: task `k` goes to worker `k % num_workers`, so draws are repeatable."""

    def __init__(self, loader):
        super().__init__(loader)
        import numpy  # noqa: F401  (workers seed NumPy; forked ones then need not import it)

        from .pool import WorkerPool

        self._timeout = loader.timeout
        self._in_order = loader.in_order
        self._persistent = loader.persistent_workers
        if loader.prefetch_factor == 0:
            raise AssertionError(
                "prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter\n"
                "with 0 no worker would ever be asked for a batch: give 1 or more, or None for 2"
            )
        self._ahead = loader.prefetch_factor
        self._epoch = -1
        self._failure = None
        self._pool = WorkerPool(loader, self._base_seed)
        self._shutdown_workers = weakref.finalize(self, self._pool.shutdown)
        self._start_epoch()

    @property
    def _workers(self):
        return self._pool.processes

    def _reset(self, loader):
        self._begin(loader)
        self._start_epoch()

    def _start_epoch(self):
        # Answers to tasks of an epoch that was left early still arrive; its number tells them.
        self._epoch += 1
        self._sent = self._expected = 0
        self._assigned = {}  # task: worker
        self._early = {}  # task: what came early
        self._active = [True] * self._num_workers
        self._load = [0] * self._num_workers
        self._turns = itertools.cycle(range(self._num_workers))
        for _ in range(self._ahead * self._num_workers):
            if not self._send_task():
                break

    def _send_task(self):
        """Give the next worker a task; False if there is none."""
        worker = self._next_worker()
        if worker is None:
            return False
        try:
            indices = next(self._indices)
        except StopIteration:
            return False
        if isinstance(indices, rushlight.Tensor):
            indices = indices.numpy().tobytes()
        self._assigned[self._sent] = worker
        self._load[worker] += 1
        self._pool.put(worker, (self._epoch, self._sent), indices)
        self._sent += 1
        return True

    def _next_worker(self):
        for _ in range(self._num_workers):
            worker = next(self._turns)
            if self._active[worker] and (self._in_order or self._load[worker] < self._ahead):
                return worker
        return None

    def _next_data(self):
        if self._failure is not None:
            raise RuntimeError(self._failure)
        while self._skip_to_expected():
            if self._expected in self._early:
                return self._deliver(self._expected, self._early.pop(self._expected))
            task, data = self._receive()
            if isinstance(data, StreamEnded):
                worker = self._assigned.get(task)
                if worker is not None and self._active[worker]:
                    self._active[worker] = False
                    self._send_task()
            elif task == self._expected or not self._in_order:
                return self._deliver(task, data)
            else:
                self._early[task] = data
        if not self._persistent:
            self._shutdown_workers()
        raise StopIteration

    def _skip_to_expected(self):
        """Pass over tasks that no one will answer; whether any is left."""
        while self._expected < self._sent:
            worker = self._assigned.get(self._expected)
            if self._expected in self._early or (worker is not None and self._active[worker]):
                return True
            self._assigned.pop(self._expected, None)
            self._expected += 1
        return False

    def _receive(self):
        try:
            while True:
                (epoch, task), chunks = self._pool.get(self._timeout)
                if epoch == self._epoch:
                    return task, _decode(chunks)
        except RuntimeError as error:
            self._failure = str(error)
            self._pool.shutdown(0.2)
            raise
        except KeyboardInterrupt:
            self._failure = "this DataLoader iterator was interrupted by Ctrl-C\nMake a new one."
            self._pool.shutdown(0.2)
            raise

    def _deliver(self, task, data):
        self._load[self._assigned.pop(task)] -= 1
        if task == self._expected:
            self._expected += 1
        self._send_task()
        if isinstance(data, ExceptionWrapper):
            data.reraise()
        return data
