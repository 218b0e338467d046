"""DataLoader: its checks and its two iterators, one in this process and one over workers.

The order of draws is torch's and programs depend on it: the base seed when an iterator is made,
the sampler's own draws when its first index is asked for.
"""

import itertools
import math
import os
import warnings
import weakref

import rushlight

from ._utils.collate import default_collate, default_convert
from ._utils.exception import ExceptionWrapper
from ._utils.fetch import IterableFetcher, MapFetcher
from ._utils.pin_memory import pin_memory
from ._utils.worker import StreamEnded
from .dataset import IterableDataset, can_gather
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, draw_seed


class _DatasetKind:
    Map = 0
    Iterable = 1


class _Endless(Sampler):
    """The sampler of a stream: it only counts samples."""

    def __iter__(self):
        return itertools.repeat(None)


class DataLoader:
    """Batches of a data set, in order or shuffled, read here or by worker processes.

    Args:
        dataset: map-style (`__getitem__`, `__len__`) or an IterableDataset.
        batch_size: samples in a batch; None gives single samples.
        shuffle: a new random order each epoch.
        sampler: gives indices instead of `shuffle`.
        batch_sampler: gives lists of indices, instead of the four arguments around.
        num_workers: worker processes; 0 reads in this one.
        collate_fn: makes a batch of a list of samples; `default_collate` if None.
        pin_memory: give batches in page-locked memory, where there is a GPU.
        drop_last: leave out a last batch that is smaller.
        timeout: seconds to wait for a batch of the workers; 0 waits without limit.
        worker_init_fn: called in each worker with its number, after seeding.
        multiprocessing_context: context or start method ("fork", "spawn") of the workers.
        generator: the Generator for shuffling and the workers' base seed.
        prefetch_factor: batches that each worker reads ahead; 2 if None.
        persistent_workers: keep the workers from one epoch to the next.
        pin_memory_device: ignored, as in torch.
        in_order: give batches in order, not as workers finish them.

    Raises:
        ValueError: arguments that exclude each other; the message names them.
        RuntimeError: while iterating, a worker ended (its pid and exit code are named) or the
            timeout passed. A worker's exception comes with its type and traceback.

    Example:
        >>> data = torch.utils.data.TensorDataset(torch.arange(5))
        >>> for (batch,) in torch.utils.data.DataLoader(data, batch_size=2):
        ...     print(batch)
        tensor([0, 1])
        tensor([2, 3])
        tensor([4])
    """

    _is_initialized = False

    def __class_getitem__(cls, item):
        return cls

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
    ):
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order

        if isinstance(dataset, IterableDataset):
            self._dataset_kind = _DatasetKind.Iterable
            _check_stream(shuffle, sampler, batch_sampler)
        else:
            self._dataset_kind = _DatasetKind.Map
            shuffle = bool(shuffle)
        batch_size, drop_last = _check_sampling(
            batch_size, shuffle, sampler, batch_sampler, drop_last
        )
        if sampler is None:
            if self._dataset_kind == _DatasetKind.Iterable:
                sampler = _Endless()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)

        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_collate if batch_sampler is not None else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self._reported_length = None
        self._iterator = None
        self._is_initialized = True
        self.check_worker_number_rationality()

    @property
    def multiprocessing_context(self):
        """The context that makes the workers; None is the default one."""
        return self._multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None:
            context = _check_context(context, self.num_workers)
        self._multiprocessing_context = context

    def __setattr__(self, name, value):
        if self._is_initialized and name in _fixed:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized\n"
                "Make a new DataLoader."
            )
        super().__setattr__(name, value)

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _get_iterator(self):
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    def __iter__(self):
        if not self.persistent_workers or self.num_workers == 0:
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def __len__(self):
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        length = self._reported_length = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else math.ceil(length / self.batch_size)

    def check_worker_number_rationality(self):
        """Warn when there will be more workers than processors."""
        if hasattr(os, "sched_getaffinity"):
            processors, note = len(os.sched_getaffinity(0)), ""
        else:
            processors, note = os.cpu_count(), " (`cpuset` is not taken into account)"
        if not self.num_workers or (processors and self.num_workers <= processors):
            return
        warnings.warn(
            f"This DataLoader will create {self.num_workers} worker processes in total. Our "
            f"suggested max number of worker in current system is {processors}{note}, which is "
            "smaller than what this DataLoader is going to create. Please be aware that excessive "
            "worker creation might get DataLoader running slow or even freeze, lower the worker "
            "number to avoid potential slowness/freeze if necessary.",
            stacklevel=3,
        )


_fixed = frozenset(
    ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
)


def _check_workers(num_workers, timeout, prefetch_factor, persistent_workers):
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; "
            "use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_stream(shuffle, sampler, batch_sampler):
    start = "DataLoader with IterableDataset: expected unspecified"
    cure = "\nAn IterableDataset has no indices: it decides its own order."
    if shuffle not in {False, None}:
        raise ValueError(f"{start} shuffle option, but got shuffle={shuffle}{cure}")
    if sampler is not None:
        raise ValueError(f"{start} sampler option, but got sampler={sampler}{cure}")
    if batch_sampler is not None:
        raise ValueError(
            f"{start} batch_sampler option, but got batch_sampler={batch_sampler}{cure}"
        )


def _check_sampling(batch_size, shuffle, sampler, batch_sampler, drop_last):
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, "
                "and drop_last"
            )
        return None, False
    if batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )
    return batch_size, drop_last


def _check_context(context, num_workers):
    import multiprocessing
    from multiprocessing.context import BaseContext

    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading "
            f"(num_workers > 0), but got num_workers={num_workers}"
        )
    if isinstance(context, str):
        known = multiprocessing.get_all_start_methods()
        if context not in known:
            raise ValueError(
                "multiprocessing_context option should specify a valid start method in "
                f"{known!r}, but got multiprocessing_context={context!r}"
            )
        context = multiprocessing.get_context(context)
    if not isinstance(context, BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={context}"
        )
    return context


class _BaseDataLoaderIter:
    """What both iterators share: the indices, the base seed, pinning and the length warning."""

    def __init__(self, loader):
        self._loader_kind = loader._dataset_kind
        self._dataset = loader.dataset
        self._num_workers = loader.num_workers
        self._index_sampler = loader._index_sampler
        self._gathers = (
            loader._dataset_kind == _DatasetKind.Map
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
        self._reported_length = loader._reported_length
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
                "With several workers each one reads the whole stream unless it takes its share "
                "by get_worker_info()."
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
        kind = IterableFetcher if self._loader_kind == _DatasetKind.Iterable else MapFetcher
        self._fetcher = kind(
            loader.dataset, loader._auto_collation, loader.collate_fn, loader.drop_last
        )

    def _next_data(self):
        return self._fetcher.fetch(next(self._indices))


def _decode(chunks):
    from ._utils.wire import decode

    try:
        return decode(chunks)
    except Exception:
        return ExceptionWrapper(where="while reading what a DataLoader worker sent")


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Batches from workers: task `k` goes to worker `k % num_workers`, so draws are repeatable."""

    def __init__(self, loader):
        super().__init__(loader)
        import numpy  # noqa: F401  (workers seed NumPy; forked ones then need not import it)

        from ._utils.pool import WorkerPool

        self._timeout = loader.timeout
        self._in_order = loader.in_order
        self._persistent = loader.persistent_workers
        self._ahead = max(1, loader.prefetch_factor)
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
        # Answers to tasks of an epoch that was left early still arrive; the number tells them.
        self._epoch += 1
        self._sent = self._expected = 0
        self._assigned = {}  # task: worker
        self._early = {}  # task: what came before its turn
        self._active = [True] * self._num_workers
        self._load = [0] * self._num_workers
        self._turns = itertools.cycle(range(self._num_workers))
        for _ in range(self._ahead * self._num_workers):
            self._send_task()

    def _send_task(self):
        worker = self._next_worker()
        if worker is None:
            return
        try:
            indices = next(self._indices)
        except StopIteration:
            return
        if isinstance(indices, rushlight.Tensor):
            indices = indices.numpy().tobytes()
        self._assigned[self._sent] = worker
        self._load[worker] += 1
        self._pool.put(worker, (self._epoch, self._sent), indices)
        self._sent += 1

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
